//! The operations that are timed, and how a sentence calls them.

const OPS: [(&str, &str); 6] = [
    ("data_read", "reads"),
    ("data_write", "writes"),
    ("md_create", "creates"),
    ("md_stat", "stats"),
    ("md_read", "small reads"),
    ("md_delete", "deletes"),
];

/// Place of an operation in tables; unknown ones come last.
pub fn order(op: &str) -> usize {
    OPS.iter().position(|(name, _)| *name == op).unwrap_or(OPS.len())
}

/// The plural noun; an unknown operation keeps its name.
pub fn word(op: &str) -> &str {
    OPS.iter().find(|(name, _)| *name == op).map_or(op, |(_, word)| word)
}
