"""A probe in the foreground: six timed operations each period, live."""
