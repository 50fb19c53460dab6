"""Runtime of benchmarks of any workload: ranks, phases, tallies, and agreement of the processes of a run."""
