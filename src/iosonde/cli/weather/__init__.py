"""Commands on probed storage."""
