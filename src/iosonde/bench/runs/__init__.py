"""Stored benchmark runs, and their comparison."""
