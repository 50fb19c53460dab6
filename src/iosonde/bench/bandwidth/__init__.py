"""The bandwidth benchmark: large files written and read, every file and every quarter of a second on record."""
