"""Who made a slow event or the operations of an interval: the store asked, the answer as data and words."""
