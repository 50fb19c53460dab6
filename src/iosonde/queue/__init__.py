"""What if? Queueing models of storage."""
