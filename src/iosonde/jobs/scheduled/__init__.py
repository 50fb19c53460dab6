"""Storage during jobs that only the scheduler recorded."""
