//! Families with their series, before any format.

use iosonde_core::histogram::Histogram;

use crate::families::Family;

/// The whole page.
#[derive(Debug, Default)]
pub struct Content {
    /// In the order of the page.
    pub families: Vec<Exported>,
}

/// A family and its series.
#[derive(Debug)]
pub struct Exported {
    /// Which.
    pub family: &'static Family,
    /// Its series.
    pub series: Vec<Series>,
}

/// A series.
#[derive(Debug)]
pub struct Series {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// What it says.
    pub value: Value,
}

/// What a series says.
#[derive(Debug)]
pub enum Value {
    /// Of a counter or a gauge.
    Number(f64),
    /// Of a histogram.
    Histogram(Buckets),
}

/// A histogram's counts.
#[derive(Debug)]
pub struct Buckets {
    /// Upper bound (ns) and how many are at or below it.
    pub classic: Vec<(u64, u64)>,
    /// Index of a native bucket and how many are in it, ascending.
    pub native: Vec<(i32, u64)>,
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum_seconds: f64,
}

impl Value {
    /// What a histogram counted so far.
    pub fn of(histogram: &Histogram) -> Self {
        Value::Histogram(Buckets {
            classic: histogram.cumulative().collect(),
            native: histogram.native(),
            count: histogram.count(),
            sum_seconds: histogram.sum_seconds(),
        })
    }
}

impl Content {
    /// Begin a family.
    pub fn family(&mut self, family: &'static Family) {
        self.families.push(Exported { family, series: Vec::new() });
    }

    /// A series of the family that was begun last.
    pub fn add(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let labels = labels.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        if let Some(last) = self.families.last_mut() {
            last.series.push(Series { labels, value });
        }
    }

    /// The same of a number.
    pub fn line(&mut self, labels: &[(&'static str, &str)], value: f64) {
        self.add(labels, Value::Number(value));
    }
}
