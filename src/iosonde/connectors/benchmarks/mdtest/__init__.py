"""mdtest's texts and tables."""
