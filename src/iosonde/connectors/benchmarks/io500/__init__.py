"""Readers for the files of an IO500 run."""
