"""A part of the storage beside parts like it."""
