"""What several commands share: options, choices, progress, tables."""
