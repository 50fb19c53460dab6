"""Benchmarks of any workload: ranks, phases, tallies, and what processes of a run agree on."""
