"""Measurements of speed, endurance and truth: ``python -m benchmarks`` lists them."""
