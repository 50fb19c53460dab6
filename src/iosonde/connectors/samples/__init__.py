"""Readers for tables of single timed operations, from any tool."""
