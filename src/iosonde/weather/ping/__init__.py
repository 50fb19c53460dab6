"""A short look at a directory: some operations of each kind, and a verdict within ten seconds."""
