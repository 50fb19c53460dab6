"""Windows of the page with baseline and slowdown, computed anew from the earliest new row on."""
