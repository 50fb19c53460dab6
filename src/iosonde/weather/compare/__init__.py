"""Comparison of two periods or runs: significance and size of the difference."""
