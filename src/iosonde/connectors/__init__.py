"""Other tools' records: text in, frames out. One file a source; nothing here writes."""
