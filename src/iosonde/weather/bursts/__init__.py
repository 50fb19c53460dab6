"""Bursts: short stalls of many ranks."""
