"""Is storage slow, since when, how often? From samples to slowdown, events, comparison and reports."""
