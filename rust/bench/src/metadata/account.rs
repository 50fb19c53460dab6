//! What a rank's operations amounted to, op by op.

use crate::ranks::account::OpAccount;
use crate::ranks::lap::OpLap;
use iosonde_core::sample::Op;

/// The four ops of metadata, in the order of an account.
pub const OPS: [Op; 4] = [Op::MdCreate, Op::MdStat, Op::MdRead, Op::MdDelete];
/// Their names.
pub const NAMES: [&str; 4] = ["md_create", "md_stat", "md_read", "md_delete"];

/// Where an op stands in an account.
#[inline]
pub fn place(op: Op) -> usize {
    (op as usize).wrapping_sub(Op::MdCreate as usize) & 3
}

/// All ops of one rank in one phase.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// In the order of [`OPS`].
    pub ops: [OpAccount; 4],
}

impl Account {
    /// Operations that ended, either way.
    pub fn ended(&self) -> u64 {
        self.ops.iter().map(|op| op.ok + op.failures()).sum()
    }
    /// Begin afresh without giving memory back.
    pub fn clear(&mut self) {
        self.ops.iter_mut().for_each(OpAccount::clear);
    }
}

/// All ops that were done or tried.
pub fn op_laps(account: &Account) -> Vec<OpLap> {
    OpLap::of(NAMES.into_iter().zip(&account.ops))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::sample::Outcome;

    #[test]
    fn places_and_names_follow_the_order() {
        assert!(OPS.iter().enumerate().all(|(i, &op)| place(op) == i && op.name() == NAMES[i]));
    }

    #[test]
    fn what_failed_has_ended_too() {
        let mut account = Account::default();
        account.ops[0].fail(Outcome::SHORT, 5);
        account.ops[2].succeed(10, 3901);
        assert_eq!(account.ended(), 2);
        account.clear();
        assert_eq!(account.ended(), 0);
    }
}
