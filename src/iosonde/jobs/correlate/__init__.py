"""Correlations of performance with metrics, over all runs."""
