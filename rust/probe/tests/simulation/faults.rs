//! Faults of a schedule, and what of them holds at an instant.

use std::fmt::Write as _;

use iosonde_core::sample::Op;
use iosonde_core::seed::Random;

const SECOND: i64 = 1_000_000_000;
const KINDS: [&str; 5] =
    ["hang = true", "delay = '700ms'", "multiply = 300.0", "error = 'EIO'", "error = 'ESTALE'"];

/// One fault.
#[derive(Debug, Clone)]
pub struct Spell {
    op: Option<Op>,
    after_ns: i64,
    for_ns: i64,
    kind: &'static str,
}

impl Spell {
    pub fn hangs(&self) -> bool {
        self.kind.starts_with("hang")
    }
    /// The outcome it makes; none if it makes operations slow.
    pub fn error(&self) -> Option<&'static str> {
        Some(self.kind.strip_prefix("error = '")?.trim_end_matches('\''))
    }
    pub fn is_of(&self, op: Op) -> bool {
        self.op.is_none_or(|of| of == op)
    }
}

/// Some faults, of lives of a minute.
pub fn some(random: &mut Random) -> Vec<Spell> {
    let count = random.below(5);
    let spell = |random: &mut Random| Spell {
        kind: KINDS[random.below(5) as usize],
        after_ns: random.below(50) as i64 * SECOND,
        for_ns: (1 + random.below(40)) as i64 * SECOND,
        op: Op::ALL.get(random.below(7) as usize).copied(),
    };
    (0..count).map(|_| spell(random)).collect()
}

/// A hang of everything for so long.
pub fn long_hang(after_s: i64, for_s: i64) -> Vec<Spell> {
    vec![Spell { op: None, after_ns: after_s * SECOND, for_ns: for_s * SECOND, kind: KINDS[0] }]
}

/// As a configuration has them.
pub fn toml(spells: &[Spell]) -> String {
    let mut text = String::new();
    for Spell { op, after_ns, for_ns, kind } in spells {
        let named = op.map_or(String::new(), |op| format!("op = '{}'\n", op.name()));
        let (after, lasts) = (after_ns / SECOND, for_ns / SECOND);
        let _ = write!(text, "[[target.fault]]\n{named}after = '{after}s'\nfor = '{lasts}s'\n{kind}\n");
    }
    text
}

/// What an operation meets that begins so long after the schedule's start.
pub fn met(spells: &[Spell], op: Op, at_ns: i64) -> Option<&Spell> {
    spells
        .iter()
        .find(|spell| spell.is_of(op) && (spell.after_ns..spell.after_ns + spell.for_ns).contains(&at_ns))
}

/// Whether some fault of this op may make an operation slow or stuck.
pub fn troubled(spells: &[Spell], op: Op) -> bool {
    spells.iter().any(|spell| spell.is_of(op) && spell.error().is_none())
}

/// Whether operations failed at some time in the `before_ns` before an instant.
pub fn failed_before(spells: &[Spell], at_ns: i64, before_ns: i64) -> bool {
    let near = |spell: &Spell| spell.after_ns <= at_ns && spell.after_ns + spell.for_ns >= at_ns - before_ns;
    spells.iter().any(|spell| spell.error().is_some() && near(spell))
}

/// Whether operations were slow at some time before an instant.
pub fn slow_before(spells: &[Spell], at_ns: i64) -> bool {
    spells.iter().any(|spell| spell.error().is_none() && spell.after_ns <= at_ns)
}
