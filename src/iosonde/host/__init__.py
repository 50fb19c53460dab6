"""The machine: child processes that may hang, and mounts."""
