"""Why is it slow? What the rooms know about one slow stretch, joined into one sentence with its evidence."""
