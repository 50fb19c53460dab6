"""Reader for any table of jobs, with a mapping that defines its columns."""
