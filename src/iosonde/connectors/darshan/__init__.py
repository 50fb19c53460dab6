"""Darshan's logs and texts to jobs: read in forks, so a log that ends its reader ends nothing else."""
