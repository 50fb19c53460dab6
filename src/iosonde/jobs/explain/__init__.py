"""Explanation of a slow run: candidate metrics, verdict, words."""
