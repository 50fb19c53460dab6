"""Jobs and where their nodes lie: Slurm, job tables, xtdb2proc."""
