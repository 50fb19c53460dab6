"""Benchmarks of storage, their backends, and stored runs."""
