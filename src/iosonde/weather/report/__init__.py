"""A report of a period: one HTML file."""
