"""A job beside the storage and the load of its time."""
