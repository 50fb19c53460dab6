"""The bandwidth benchmark: large files written and read, with a record per file and quarter of a second."""
