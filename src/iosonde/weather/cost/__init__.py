"""Cost of probes for the storage that they watch."""
