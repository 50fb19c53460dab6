//! The protobuf format, which alone carries native histograms: `MetricFamily` of Prometheus' `metrics.proto`, each
//! with its length before it. Histograms have their classic buckets, too; a scraper chooses.

use prost::Message;

use super::content::{Buckets, Content, Series, Value};
use crate::families::Kind;
use iosonde_core::histogram::NATIVE_SCHEMA;

/// Value of `Content-Type`.
pub const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
/// Observations up to here count as zero, in seconds: as every client of Prometheus has it. There are none.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// Whether a header `Accept` names the format.
pub fn is_accepted(accept: &str) -> bool {
    accept.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some("application/vnd.google.protobuf")
            && parts.any(|part| part == "encoding=delimited")
    })
}

/// The page.
pub fn page(content: &Content) -> Vec<u8> {
    content
        .families
        .iter()
        .flat_map(|exported| {
            let (kind, family) = (exported.family.kind, exported.family);
            MetricFamily {
                name: family.name.into(),
                help: family.help.into(),
                kind: match kind {
                    Kind::Counter => 0,
                    Kind::Gauge => 1,
                    Kind::Histogram => 4,
                },
                metric: exported.series.iter().map(|series| metric(kind, series)).collect(),
            }
            .encode_length_delimited_to_vec()
        })
        .collect()
}

fn metric(kind: Kind, series: &Series) -> Metric {
    let label = |(name, value): &(&str, String)| LabelPair { name: (*name).into(), value: value.clone() };
    let mut found = Metric { label: series.labels.iter().map(label).collect(), ..Metric::default() };
    match (&series.value, kind) {
        (Value::Histogram(buckets), _) => found.histogram = Some(histogram(buckets)),
        (Value::Number(value), Kind::Counter) => found.counter = Some(Number { value: *value }),
        (Value::Number(value), _) => found.gauge = Some(Number { value: *value }),
    }
    found
}

fn histogram(buckets: &Buckets) -> Histogram {
    let (positive_span, positive_delta) = spans(&buckets.native);
    Histogram {
        sample_count: buckets.count,
        sample_sum: buckets.sum_seconds,
        bucket: buckets
            .classic
            .iter()
            .map(|&(bound_ns, count)| Bucket { cumulative_count: count, upper_bound: bound_ns as f64 / 1e9 })
            .collect(),
        schema: NATIVE_SCHEMA,
        zero_threshold: ZERO_THRESHOLD,
        positive_span,
        positive_delta,
    }
}

/// Runs of buckets that are not empty, and of each bucket how many more it has than the one before.
fn spans(native: &[(i32, u64)]) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, Vec<i64>) = (Vec::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for &(index, count) in native {
        match spans.last_mut() {
            Some(last) if index == next => last.length += 1,
            _ => spans.push(BucketSpan { offset: index - next, length: 1 }),
        }
        deltas.push(count as i64 - before);
        (next, before) = (index + 1, count as i64);
    }
    (spans, deltas)
}

#[derive(Message)]
struct MetricFamily {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
}

#[derive(Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Histogram>,
}

#[derive(Message)]
struct LabelPair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Message)]
struct Number {
    #[prost(double, tag = "1")]
    value: f64,
}

#[derive(Message)]
struct Histogram {
    #[prost(uint64, tag = "1")]
    sample_count: u64,
    #[prost(double, tag = "2")]
    sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Message)]
struct Bucket {
    #[prost(uint64, tag = "1")]
    cumulative_count: u64,
    #[prost(double, tag = "2")]
    upper_bound: f64,
}

#[derive(Message, PartialEq)]
struct BucketSpan {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_buckets_become_spans() {
        let (spans, deltas) = spans(&[(-81, 3), (-80, 5), (-77, 1)]);
        let span = |offset, length| BucketSpan { offset, length };
        assert_eq!(spans, [span(-81, 2), span(2, 1)]);
        assert_eq!(deltas, [3, 2, -4]);
    }

    #[test]
    fn what_scrapers_send_is_understood() {
        let prometheus = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                          encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1";
        assert!(is_accepted(prometheus));
        for other in ["", "text/plain", "*/*", "application/vnd.google.protobuf;encoding=text"] {
            assert!(!is_accepted(other), "{other}");
        }
    }
}
