"""Who may ask, and over which connection: a token, and TLS."""
