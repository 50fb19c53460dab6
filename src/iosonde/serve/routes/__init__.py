"""Which address gives what: routes with their questions and the shapes of their answers."""
