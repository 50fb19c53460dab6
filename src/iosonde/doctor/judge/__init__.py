"""Facts in, findings out; no clock, no file."""
