"""Runs of benchmarks against each other: faster, slower, same, or what would have been seen."""
