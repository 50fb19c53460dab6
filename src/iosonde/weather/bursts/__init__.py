"""Short stalls of many ranks."""
