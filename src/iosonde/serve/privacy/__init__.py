"""Whose names leave the server: what the site's policy says, and what stands for a name that stays."""
