"""Lasting changes of jobs' performance and environment."""
