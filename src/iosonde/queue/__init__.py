"""Queueing models of storage for what-if analysis."""
