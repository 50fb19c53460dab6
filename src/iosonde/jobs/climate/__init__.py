"""Lasting changes of what jobs see."""
