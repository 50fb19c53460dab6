//! What the agent itself costs, from /proc/self.

/// Its own cost.
#[derive(Debug, Default, PartialEq)]
pub struct Cost {
    /// Processor seconds, user and system.
    pub cpu_seconds: f64,
    /// Bytes of memory.
    pub resident_bytes: u64,
    /// Open file descriptors.
    pub open_fds: u64,
}

impl Cost {
    /// Now; zero where /proc does not tell.
    pub fn now() -> Self {
        // SAFETY: plain numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is valid for writes.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        Self {
            cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            resident_bytes: resident_pages(&pages) * rustix::param::page_size() as u64,
            open_fds: std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
        }
    }
}

fn resident_pages(statm: &str) -> u64 {
    statm.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_costs_something() {
        let cost = Cost::now();
        assert!(cost.resident_bytes > 100_000 && cost.open_fds > 2, "{cost:?}");
        assert_eq!(resident_pages("nonsense"), 0);
    }
}
