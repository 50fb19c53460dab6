"""Other tools' files into the store."""
