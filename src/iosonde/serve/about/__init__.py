"""What the server says of itself: versions, thresholds, what the probes cost, the glossary."""
