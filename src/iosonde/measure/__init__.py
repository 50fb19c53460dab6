"""Typed wrappers over the core's instruments."""
