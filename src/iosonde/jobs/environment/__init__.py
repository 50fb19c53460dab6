"""Servers, nodes and concurrent jobs while a job ran."""
