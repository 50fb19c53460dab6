"""Samples of the store: windows, boxes, counts."""
