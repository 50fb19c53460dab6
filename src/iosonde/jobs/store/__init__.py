"""Tables of jobs and of series in the store."""
