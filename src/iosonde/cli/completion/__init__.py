"""Completions of three shells and manual pages, generated from the parsers of the commands."""
