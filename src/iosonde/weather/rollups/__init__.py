"""Roll-ups: ten minutes of a series as histograms, and windows that outlive raw samples."""
