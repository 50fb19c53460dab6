"""Why was a job slow, and what changed? Tables of jobs, their servers, history and climate."""
