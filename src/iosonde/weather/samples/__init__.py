"""Queries on samples of the store: windows, boxes, counts."""
