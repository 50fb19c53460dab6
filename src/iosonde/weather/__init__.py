"""Slowness of storage over time: samples, slowdown, events, comparison and reports."""
