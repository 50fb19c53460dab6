"""What can storage do? Benchmarks, backends and runs."""
