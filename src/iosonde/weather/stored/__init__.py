"""Contents of a store as they stand: names, samples, windows, and what arrives."""
