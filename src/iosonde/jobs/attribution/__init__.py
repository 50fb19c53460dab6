"""Who causes the load? Operations that nodes recorded, joined with the scheduler's allocations."""
