//! The text format 0.0.4 that every Prometheus reads; histograms are classic ones.

use std::fmt::Write;

use super::content::{Buckets, Content, Value};

/// The page.
pub fn page(content: &Content) -> String {
    let mut page = Page(String::new());
    for exported in &content.families {
        let family = exported.family;
        // Writing into a String cannot fail.
        let _ = writeln!(page.0, "# HELP {} {}", family.name, family.help);
        let _ = writeln!(page.0, "# TYPE {} {}", family.name, family.kind.name());
        for series in &exported.series {
            match &series.value {
                Value::Number(value) => page.line(family.name, "", &series.labels, None, *value),
                Value::Histogram(buckets) => page.histogram(family.name, &series.labels, buckets),
            }
        }
    }
    page.0
}

type Labels = [(&'static str, String)];

struct Page(String);

impl Page {
    fn line(&mut self, name: &str, suffix: &str, labels: &Labels, bound: Option<&str>, value: f64) {
        let _ = write!(self.0, "{name}{suffix}");
        let labels = labels.iter().map(|(name, value)| (*name, value.as_str()));
        let mut before = '{';
        for (name, value) in labels.chain(bound.map(|bound| ("le", bound))) {
            let _ = write!(self.0, "{before}{name}=\"{}\"", escaped(value));
            before = ',';
        }
        let _ = writeln!(self.0, "{} {value}", if before == ',' { "}" } else { "" });
    }

    fn histogram(&mut self, name: &str, labels: &Labels, buckets: &Buckets) {
        for &(bound_ns, count) in &buckets.classic {
            let bound = (bound_ns as f64 / 1e9).to_string();
            self.line(name, "_bucket", labels, Some(&bound), count as f64);
        }
        self.line(name, "_bucket", labels, Some("+Inf"), buckets.count as f64);
        self.line(name, "_sum", labels, None, buckets.sum_seconds);
        self.line(name, "_count", labels, None, buckets.count as f64);
    }
}

pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
