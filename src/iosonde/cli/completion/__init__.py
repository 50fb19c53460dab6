"""Completions of three shells and manual pages, generated from the commands' parsers."""
