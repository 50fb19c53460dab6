"""Words, units, errors and frames that every other layer shares. Imports nothing of iosonde."""
