"""Slowdown over time: windows of series against what is usual, and slow stretches."""
