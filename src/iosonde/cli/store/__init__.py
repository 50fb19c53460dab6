"""Upkeep of a store: seal, compact, check, forget, clean."""
