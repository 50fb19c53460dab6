"""Commands about whose load it is."""
