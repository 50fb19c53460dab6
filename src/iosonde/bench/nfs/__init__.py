"""Latency of NFS reads beside a client's writes."""
