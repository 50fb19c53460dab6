"""Import of other tools' files into the store."""
