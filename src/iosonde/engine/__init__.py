"""Files of the store and the one engine that asks them: layout, spool, Parquet, queries in slices."""
