"""Readers for mdtest's text output and tables."""
