"""Verdict on the limit: client, server or background work."""
