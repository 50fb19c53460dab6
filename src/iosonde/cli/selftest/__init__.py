"""`iosonde selftest`: one file per test."""
