"""Comparison of benchmark runs: faster, slower, same, or the smallest detectable difference."""
