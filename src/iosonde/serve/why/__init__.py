"""Why storage is slow, for the page and alerts."""
