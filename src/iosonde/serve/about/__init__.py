"""Routes about the server: versions, thresholds, cost of the probes, the glossary."""
