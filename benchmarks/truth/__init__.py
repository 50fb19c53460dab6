"""Synthetic truth: generators whose answer is known, and what iosonde makes of them.

``python -m benchmarks.truth`` prints one row a target: measured, wanted, the prototype's figure and
what the plain way (for latencies the ratio of medians) says on the same data.
"""
