//! Time that a worker stands still, as far as its supervisor was there to see it.

/// Time that a worker was seen to make no progress.
#[derive(Debug, Default)]
pub struct Still {
    looked_ns: Option<u64>,
    for_ns: u64,
}

impl Still {
    /// Goes on; returns for how long in all. At most `most_ns` of the time since the last look counts: while the
    /// supervisor itself was held up (the whole host was paused), workers may have been, too.
    pub fn go_on(&mut self, now_ns: u64, most_ns: u64) -> u64 {
        let since_ns = self.looked_ns.replace(now_ns).unwrap_or(now_ns);
        self.for_ns += (now_ns - since_ns).min(most_ns);
        self.for_ns
    }
}
