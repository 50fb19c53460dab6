"""The law of a store: a row counts once, whatever happens to its files, whoever dies, and whatever time it is."""
