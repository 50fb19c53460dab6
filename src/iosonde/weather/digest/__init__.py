"""A week of all targets beside the week before, as a mail."""
