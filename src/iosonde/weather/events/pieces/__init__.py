"""Slow stretches and hangs of single operations, found in windows and samples."""
