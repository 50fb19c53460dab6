"""Counters of clients: collectl, mountstats."""
