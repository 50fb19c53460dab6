"""Commands on the storage queue."""
