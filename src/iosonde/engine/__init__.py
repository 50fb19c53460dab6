"""Files of the store and the one engine that queries them: layout, spool, Parquet, queries in slices."""
