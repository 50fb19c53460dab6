"""LMT's databases: MySQL dumps and SQLite."""
