"""Verdicts as data, and the only place that writes sentences about storage."""
