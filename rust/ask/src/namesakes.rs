//! Hosts whose name two machines have: their states replace each other, and their samples count as one host's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::state::{Members, integer, text};

/// States of two boots that were written so close together are of two machines: none restarts within that.
const TOGETHER_NS: i64 = 10_000_000_000;

/// Names of hosts, sorted. A probe found another's state in place of its own, or two boots write at once.
pub fn namesakes(states: &[Members]) -> BTreeSet<String> {
    let found = states.iter().filter(|state| integer(state, "namesake_ns").is_some());
    let mut found: BTreeSet<String> = found.map(|state| text(state, "host").to_string()).collect();
    let mut boots: BTreeMap<&str, Vec<(i64, &str)>> = BTreeMap::new();
    for state in states.iter().filter(|state| state.get("running") == Some(&Value::Bool(true))) {
        let boot = text(state, "boot_id");
        if let Some(written_ns) = integer(state, "written_ns").filter(|_| !boot.is_empty()) {
            boots.entry(text(state, "host")).or_default().push((written_ns, boot));
        }
    }
    for (host, each) in boots {
        let newest_ns = each.iter().map(|(written_ns, _)| *written_ns).max().unwrap_or(0);
        let lately =
            each.iter().filter(|(written_ns, _)| newest_ns.saturating_sub(*written_ns) <= TOGETHER_NS);
        if lately.map(|(_, boot)| boot).collect::<BTreeSet<_>>().len() > 1 {
            found.insert(host.to_string());
        }
    }
    found
}
