"""Node or storage? Hosts beside each other on every target."""
