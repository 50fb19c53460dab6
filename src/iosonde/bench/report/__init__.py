"""A run of a benchmark as one HTML page: what a vendor is sent."""
