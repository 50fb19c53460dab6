"""Foreign tables: Parquet and JSON lines that the engine reads as text."""
