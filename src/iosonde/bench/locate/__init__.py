"""Which component of the storage is slow: targets, servers, router groups, clients, or a stretch of time."""
