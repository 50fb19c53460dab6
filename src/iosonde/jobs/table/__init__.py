"""A table with a row a run: from the store or from files, cleaned."""
