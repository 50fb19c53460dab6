"""Readers for jobs and node positions: Slurm, job tables, xtdb2proc."""
