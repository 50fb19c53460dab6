"""What performance goes with, over all runs."""
