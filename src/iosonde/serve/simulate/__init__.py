"""Route of the storage queue with interactive parameters."""
