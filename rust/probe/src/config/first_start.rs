//! First start of a target: how much it writes, how fast, and when hosts begin.

use super::target_plan::TargetPlan;

/// With O_DIRECT, which goes past the client's cache, a big file has at most so many bytes ...
pub const DIRECT_BYTES: u64 = 1 << 30;
/// ... and one part in this many of what may still be written.
pub const SHARE_OF_ROOM: u64 = 10;
/// Bytes a second that are written on a target without a budget of bytes.
pub const FILL_BYTES_PER_S: u64 = 64 << 20;
/// So much is written without waiting for a host's moment of `spread`.
pub const AT_ONCE_BYTES: u64 = 64 << 20;
/// Default random start delay of a probe under a service manager, which is one of many hosts.
pub const SERVICE_SPREAD_NS: u64 = 600_000_000_000;

impl TargetPlan {
    /// Bytes a second at which its big file is filled.
    pub fn fill_bytes_per_s(&self) -> u64 {
        self.budget.bytes_per_s.unwrap_or(FILL_BYTES_PER_S).max(1)
    }
}
