"""`iosonde selftest`: one file a test."""
