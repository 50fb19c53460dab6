"""Compare two periods or runs: whether they differ, and by how much."""
