"""Benchmarks: each prints a table; docs/performance.md holds them."""
