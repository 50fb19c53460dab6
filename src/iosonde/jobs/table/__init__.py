"""Table with one row per run: from the store or from files, cleaned."""
