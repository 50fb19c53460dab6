"""Commands on the origin of load."""
