"""What clients count: collectl, mountstats."""
