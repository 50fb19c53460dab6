"""Generated load of a cluster with known truth: jobs, allocations, operations of nodes, culprits."""
