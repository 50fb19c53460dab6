//! Watch for trouble with the store other than a full disk: no answer, refusals, no locks.

use crate::record::health::Health;

/// A round of the writer that takes longer than this means that the store does not answer.
const PATIENCE_NS: u64 = 5_000_000_000;

/// Looks at the health of the writer from time to time.
#[derive(Debug, Default)]
pub struct StoreWatch {
    /// The round that the writer is in, and when it was first seen in it.
    round: Option<(u64, u64)>,
    hangs: bool,
    refused: Option<String>,
    without_locks: bool,
    shared_name: bool,
}

impl StoreWatch {
    /// News of the store as texts, each with true if it is a warning. `now_ns` is monotonic, `utc_ns` the wall clock,
    /// `host` the name of this host.
    pub fn look(&mut self, health: &Health, now_ns: u64, utc_ns: i64, host: &str) -> Vec<(String, bool)> {
        let mut said = Vec::new();
        said.extend(self.answer(health, now_ns));
        said.extend(self.refusal(health));
        if health.is_unlocked() && !std::mem::replace(&mut self.without_locks, true) {
            let text = "the store's file system has no locks: segments are sealed only when two hours old";
            said.push((text.into(), true));
        }
        let shared_name = health.namesake_ns(utc_ns).is_some();
        if shared_name && !std::mem::replace(&mut self.shared_name, true) {
            said.push((
                format!(
                    "two machines or containers probe as {host}, and their records mix: give each a name (host = \"...\")"
                ),
                true,
            ));
        }
        said
    }

    fn answer(&mut self, health: &Health, now_ns: u64) -> Option<(String, bool)> {
        self.round = health.round().map(|round| match self.round {
            Some((before, since_ns)) if before == round => (round, since_ns),
            _ => (round, now_ns),
        });
        let for_ns = self.round.map_or(0, |(_, since_ns)| now_ns.saturating_sub(since_ns));
        let hangs = for_ns > PATIENCE_NS;
        if hangs == std::mem::replace(&mut self.hangs, hangs) {
            return None;
        }
        let seconds = PATIENCE_NS / 1_000_000_000;
        Some(match hangs {
            true => (format!("the store has not answered for {seconds} s: rows wait in memory"), true),
            false => ("the store answers again".into(), false),
        })
    }

    /// A store that is full says so elsewhere.
    fn refusal(&mut self, health: &Health) -> Option<(String, bool)> {
        let refused = health.last_error().filter(|_| health.store_full_since_ns().is_none());
        let before = std::mem::replace(&mut self.refused, refused);
        match (&self.refused, before) {
            (Some(text), before) if before.as_ref() != Some(text) => {
                Some((format!("{text}; rows wait in memory"), true))
            }
            (None, Some(_)) if health.last_error().is_none() => {
                Some(("the store takes everything again".into(), false))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::health::Busy;
    use std::sync::Arc;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_round_that_does_not_end_is_said_once_and_its_end_too() {
        let (health, mut watch) = (Arc::new(Health::default()), StoreWatch::default());
        let texts = |said: Vec<(String, bool)>| said.into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        for second in 0..20 {
            // Rounds that end are no reason to speak, however many there are.
            drop(Busy::new(&health));
            let busy = Busy::new(&health);
            assert!(watch.look(&health, second * SECOND, 0, "h").is_empty());
            drop(busy);
        }
        let busy = Busy::new(&health);
        let said: Vec<String> =
            (20..40).flat_map(|s| texts(watch.look(&health, s * SECOND, 0, "h"))).collect();
        assert_eq!(said, ["the store has not answered for 5 s: rows wait in memory"]);
        drop(busy);
        assert_eq!(texts(watch.look(&health, 40 * SECOND, 0, "h")), ["the store answers again"]);
        assert!(watch.look(&health, 41 * SECOND, 0, "h").is_empty());
    }
}
