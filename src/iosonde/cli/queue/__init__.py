"""Commands about the storage queue."""
