"""Ping of a directory: some operations of each kind, and a verdict within ten seconds."""
