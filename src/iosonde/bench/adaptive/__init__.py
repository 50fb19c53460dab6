"""Who is the limit: client, server or background work."""
