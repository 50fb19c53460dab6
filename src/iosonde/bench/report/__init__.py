"""A benchmark run as one HTML page, as sent to a vendor."""
