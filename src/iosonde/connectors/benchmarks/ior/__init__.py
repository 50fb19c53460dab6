"""IOR's texts and tables."""
