"""Darshan logs and texts to jobs: read in forks, so that a damaged log ends only its reader."""
