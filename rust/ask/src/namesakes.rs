//! Hosts whose name two machines have: their states replace each other, and their samples count as one host's.

use std::collections::{BTreeMap, BTreeSet};

use crate::live_state::LiveState;

/// States of two boots that were written so close together are of two machines: none restarts within that.
const TOGETHER_NS: i64 = 10_000_000_000;

/// Names of hosts, sorted. A probe found another's state in place of its own, or two boots write at once.
pub fn namesakes<'a>(states: impl Iterator<Item = &'a LiveState>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut boots: BTreeMap<&str, Vec<(i64, &str)>> = BTreeMap::new();
    for state in states {
        if state.namesake_ns.is_some() {
            found.insert(state.host.clone());
        }
        if state.running && !state.boot_id.is_empty() && state.written_ns != 0 {
            boots.entry(&state.host).or_default().push((state.written_ns, &state.boot_id));
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
