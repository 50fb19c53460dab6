"""Common parts of commands: options, choices, progress, tables."""
