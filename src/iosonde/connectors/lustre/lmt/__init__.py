"""Readers for LMT's databases: MySQL dumps and SQLite."""
