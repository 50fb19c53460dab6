"""Tables of single operations that any tool timed."""
