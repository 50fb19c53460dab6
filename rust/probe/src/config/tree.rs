//! Merge of several TOML files into one tree: variables filled in, tables merged, places of values kept.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::ConfigError;
use super::explain::explain;
use super::sources::{Places, Source, Sources};
use iosonde_core::text::escaped;

/// Looks up a variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Tables and values with their places.
pub(super) type Tree<'i> = DeTable<'i>;

/// Parse and merge; every problem with its place.
pub(super) fn assemble<'i>(
    sources: &'i Sources,
    environment: Option<Environment<'_>>,
) -> Result<Tree<'i>, Vec<ConfigError>> {
    let mut problems = Vec::new();
    let mut whole = Tree::new();
    for source in sources.iter() {
        let (tree, errors) = DeTable::parse_recoverable(&source.text);
        problems.extend(errors.iter().map(|error| {
            let offset = source.base + error.span().map_or(0, |span| span.start);
            ConfigError(format!("{}: {}", sources.place(offset), explain(error.message())))
        }));
        let mut reader = Reader { sources, source, environment, problems: &mut problems };
        merge(&mut whole, reader.table(tree.into_inner()), true);
    }
    if problems.is_empty() { Ok(whole) } else { Err(problems) }
}

/// Moves spans to where the file begins and fills in variables.
struct Reader<'a> {
    sources: &'a Sources,
    source: &'a Source,
    environment: Option<Environment<'a>>,
    problems: &'a mut Vec<ConfigError>,
}

impl Reader<'_> {
    fn moved(&self, span: Range<usize>) -> Range<usize> {
        span.start + self.source.base..span.end + self.source.base
    }

    fn table<'i>(&mut self, table: DeTable<'i>) -> DeTable<'i> {
        let entries = table.into_iter().map(|(key, value)| {
            let span = self.moved(key.span());
            (Spanned::new(span, key.into_inner()), self.value(value))
        });
        entries.collect()
    }

    fn value<'i>(&mut self, value: Spanned<DeValue<'i>>) -> Spanned<DeValue<'i>> {
        let span = self.moved(value.span());
        let inner = match value.into_inner() {
            DeValue::Table(table) => DeValue::Table(self.table(table)),
            DeValue::Array(array) => {
                DeValue::Array(array.into_iter().map(|value| self.value(value)).collect())
            }
            DeValue::String(text) => match self.environment {
                Some(environment) if text.contains("${") => match fill(&text, environment) {
                    Ok(filled) => DeValue::String(filled.into()),
                    Err(what) => {
                        let place = self.sources.place(span.start);
                        self.problems.push(ConfigError(format!("{place}: {}", escaped(&what))));
                        DeValue::String(text)
                    }
                },
                _ => DeValue::String(text),
            },
            other => other,
        };
        Spanned::new(span, inner)
    }
}

/// `${NAME}` becomes the variable's value, `$${` a plain `${`.
fn fill(text: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            filled.push_str(&rest[..at - 1]);
            filled.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        filled.push_str(&rest[..at]);
        let (name, after) = rest[at + 2..]
            .split_once('}')
            .ok_or_else(|| format!("`{text}` has a ${{ without its }}; write $${{ for a plain ${{"))?;
        let value = environment(name).ok_or_else(|| {
            format!("the environment variable `{name}` is not set; set it, or write $${{ for a plain ${{")
        })?;
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Later scalars override, tables merge, targets are added.
fn merge<'i>(into: &mut Tree<'i>, from: Tree<'i>, top: bool) {
    for (key, value) in from {
        let targets = top && key.get_ref() == "target";
        let Some(mut old) = into.remove(&key) else {
            into.insert(key, value);
            continue;
        };
        let span = value.span();
        let merged = match (old.get_mut(), value.into_inner()) {
            (DeValue::Table(old), DeValue::Table(new)) => {
                merge(old, new, false);
                None
            }
            (DeValue::Array(old), DeValue::Array(new)) if targets => {
                new.into_iter().for_each(|value| old.push(value));
                None
            }
            (_, new) => Some(Spanned::new(span, new)),
        };
        into.insert(key, merged.unwrap_or(old));
    }
}

/// Take out what `span` points at: the innermost key or value that holds it. A fault or component goes as a
/// whole: half of one would only cause another error.
pub(super) fn prune(tree: &mut Tree<'_>, span: &Range<usize>) -> bool {
    for (key, value) in tree.iter_mut() {
        let whole = matches!(key.get_ref().as_ref(), "fault" | "component");
        if prune_inside(value.get_mut(), span, whole) {
            return true;
        }
    }
    let found = tree.iter().find(|(key, value)| holds(&key.span(), span) || holds(&value.span(), span));
    let Some(key) = found.map(|(key, _)| key.clone()) else { return false };
    tree.remove(&key).is_some()
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn prune_inside(value: &mut DeValue<'_>, span: &Range<usize>, whole: bool) -> bool {
    match value {
        DeValue::Table(table) => prune(table, span),
        DeValue::Array(array) => {
            let mut pruned = false;
            let items = std::mem::replace(array, DeArray::new()).into_iter().filter_map(|mut item| {
                let inside = prune_inside(item.get_mut(), span, false);
                let here = inside || (!item.get_ref().is_table() && holds(&item.span(), span));
                pruned |= here;
                (!here || (inside && !whole)).then_some(item)
            });
            let items: Vec<_> = items.collect();
            *array = items.into_iter().collect();
            pruned
        }
        _ => false,
    }
}

/// Places of all keys.
pub(super) fn places(tree: &Tree<'_>, sources: &Sources) -> Places {
    let mut places = Places::default();
    places.insert(String::new(), sources.place(0));
    note(tree, "", sources, &mut places);
    places
}

fn note(table: &Tree<'_>, prefix: &str, sources: &Sources, places: &mut Places) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        places.insert(name.clone(), sources.place(key.span().start));
        match value.get_ref() {
            DeValue::Table(inner) => note(inner, &format!("{name}."), sources, places),
            DeValue::Array(array) => {
                for (i, item) in array.iter().enumerate() {
                    places.insert(format!("{name}[{i}]"), sources.place(item.span().start));
                    if let DeValue::Table(inner) = item.get_ref() {
                        note(inner, &format!("{name}[{i}]."), sources, places);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let environment = |name: &str| (name == "SITE").then(|| "north".to_owned());
        assert_eq!(fill("/${SITE}/x${SITE}", &environment).unwrap(), "/north/xnorth");
        assert_eq!(fill("$${SITE} $5", &environment).unwrap(), "${SITE} $5");
        assert!(fill("${NOPE}", &environment).unwrap_err().contains("`NOPE` is not set"));
        assert!(fill("${SITE", &environment).unwrap_err().contains("without its }"));
    }
}
