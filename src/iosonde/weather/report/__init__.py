"""Report of a period: one HTML file."""
