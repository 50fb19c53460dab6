"""A run among its history, metric by metric: the diagram."""
