"""Any table of jobs, with a mapping that says what its columns are."""
