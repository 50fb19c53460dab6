"""Ten minutes of a series as histograms, and the windows that outlive raw samples."""
