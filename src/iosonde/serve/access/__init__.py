"""Who may ask, and over which connection: a token, TLS, deadlines, and requests that end before their answer."""
