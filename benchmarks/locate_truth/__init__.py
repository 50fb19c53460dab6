"""Synthetic runs with a slow component that is known, and what ``iosonde locate`` makes of them.

``python -m benchmarks.locate_truth --seeds N`` prints a row a kind, size and noise: right component and kind, false ones.
"""
