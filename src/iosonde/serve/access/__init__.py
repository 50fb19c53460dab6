"""Access control: a token, TLS, deadlines, and cancelled requests."""
