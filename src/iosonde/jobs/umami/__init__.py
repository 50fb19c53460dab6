"""UMAMI diagram: a run within its history, metric by metric."""
