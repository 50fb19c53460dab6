"""Readers for md-workbench's text output and latency files."""
