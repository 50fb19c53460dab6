"""The storage queue with parameters that a reader turns."""
