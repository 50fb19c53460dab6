"""Routes with their parameters and the shapes of their answers."""
