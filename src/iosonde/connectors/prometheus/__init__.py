"""Pages of exporters and range queries."""
