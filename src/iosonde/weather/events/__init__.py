"""When it was slow: events, recurrence, scope, and their words."""
