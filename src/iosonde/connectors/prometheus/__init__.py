"""Readers for pages of exporters and range queries of Prometheus."""
