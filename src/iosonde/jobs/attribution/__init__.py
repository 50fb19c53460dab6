"""Attribution of load: operations recorded by nodes, joined with the scheduler's allocations."""
