"""Readers for IOR's text output and tables."""
