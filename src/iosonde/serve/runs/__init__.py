"""Routes of benchmark runs: the list, one run in words, numbers and pictures, comparison of two."""
