"""Synthetic runs with a planted fault, and what ``iosonde locate`` makes of them.

``python -m benchmarks.locate_truth --seeds N`` prints right components and kinds, and false findings.
"""
