"""Stores that lie elsewhere: a bucket, several folders."""
