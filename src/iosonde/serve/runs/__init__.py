"""Routes of benchmark runs: the list, one of them in words, numbers and pictures, two of them compared."""
