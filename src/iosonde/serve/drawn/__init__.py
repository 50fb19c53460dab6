"""Charts as files: pictures, and tables of what they draw."""
