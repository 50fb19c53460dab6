"""Route of a job with the storage and load of its time."""
