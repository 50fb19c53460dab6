"""Commands about probed storage."""
