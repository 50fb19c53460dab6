//! Circuit breaker of one target and op: when it is stuck, when to try again, when it has recovered. Pure.
//!
//! ```text
//!          older than the deadline           it returned, or a replacement tries
//! closed ─────────────────────────► open ◄──────────────────────────────────────► half-open
//!    ▲                                        older than the deadline                  │
//!    └─────────────────────────────────────────────────────────────────────────────────┘
//!                                    an operation ended in time
//! ```

use crate::config::TargetPlan;

/// State of an op's breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The op answers.
    Closed,
    /// It did not answer; one operation is on trial.
    HalfOpen,
    /// It does not answer.
    Open,
}

impl State {
    /// All of them, as named in states.
    pub const ALL: [State; 3] = [State::Closed, State::HalfOpen, State::Open];
    /// The name used in states.
    pub fn name(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::HalfOpen => "half-open",
            State::Open => "open",
        }
    }
}

/// Action that the breaker asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    None,
    /// It is stuck: say so, gather evidence.
    Opened,
    /// Time for a trial by somebody else.
    Try,
    /// The stuck operation has returned; the next operation is the trial.
    Returned,
    /// It answers again.
    Closed,
}

/// Snapshot of the lane that owns an op.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Monotonic.
    pub now_ns: u64,
    /// Since when it has something open (due, monotonic).
    pub open_since_ns: Option<u64>,
    /// Number of its operations that have ended.
    pub ended: u64,
}

/// The breaker of one op.
#[derive(Debug, Clone)]
pub struct Breaker {
    deadline_ns: u64,
    retry_ns: u64,
    retry_max_ns: u64,
    state: State,
    hung_since_ns: Option<u64>,
    stuck_since_ns: u64,
    ended: u64,
    attempts: u32,
    retry_at_ns: u64,
}

impl Breaker {
    /// Closed.
    pub fn new(plan: &TargetPlan) -> Self {
        Self {
            deadline_ns: plan.deadline_ns,
            retry_ns: plan.retry_ns,
            retry_max_ns: plan.retry_max_ns,
            state: State::Closed,
            hung_since_ns: None,
            stuck_since_ns: 0,
            ended: 0,
            attempts: 0,
            retry_at_ns: 0,
        }
    }
    /// State of the breaker.
    pub fn state(&self) -> State {
        self.state
    }
    /// When the first operation that did not return was due (monotonic); none once one returned.
    pub fn hung_since_ns(&self) -> Option<u64> {
        self.hung_since_ns
    }
    /// Trials by others since it opened.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Decides the next step from a snapshot of the lane that owns the op.
    pub fn observe(&mut self, look: Look) -> Step {
        let late = look.open_since_ns.filter(|&since| look.now_ns.saturating_sub(since) > self.deadline_ns);
        match (self.state, late) {
            (State::Closed, Some(since)) => {
                self.state = State::Open;
                self.hung_since_ns = Some(since);
                self.stuck_since_ns = since;
                self.attempts = 0;
                self.retry_at_ns = look.now_ns + self.backoff_ns();
                Step::Opened
            }
            (State::Closed, None) => Step::None,
            (State::Open, _) if look.open_since_ns != Some(self.stuck_since_ns) => {
                self.state = State::HalfOpen;
                self.hung_since_ns = None;
                self.ended = look.ended;
                Step::Returned
            }
            (State::Open, _) if look.now_ns >= self.retry_at_ns => Step::Try,
            (State::Open, _) => Step::None,
            (State::HalfOpen, Some(since)) => {
                self.state = State::Open;
                self.hung_since_ns.get_or_insert(since);
                self.stuck_since_ns = since;
                Step::None
            }
            (State::HalfOpen, None) if look.ended > self.ended => {
                self.state = State::Closed;
                self.hung_since_ns = None;
                Step::Closed
            }
            (State::HalfOpen, None) => Step::None,
        }
    }

    /// A trial was due and nobody could be found for it.
    pub fn postpone(&mut self, now_ns: u64) {
        self.retry_at_ns = now_ns + self.backoff_ns();
    }

    /// Another lane, which has ended `ended` operations so far, owns the op from now on: it is the trial.
    pub fn replaced(&mut self, now_ns: u64, ended: u64) {
        self.attempts += 1;
        self.state = State::HalfOpen;
        self.ended = ended;
        self.retry_at_ns = now_ns + self.deadline_ns + self.backoff_ns();
    }

    fn backoff_ns(&self) -> u64 {
        let doubled = 1_u64.checked_shl(self.attempts).and_then(|times| self.retry_ns.checked_mul(times));
        doubled.unwrap_or(u64::MAX / 4).min(self.retry_max_ns)
    }
}

/// Waits that double, for whole workers that end or cannot be made ready.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backoff {
    attempts: u32,
}

impl Backoff {
    /// Time to wait before the next attempt.
    pub fn next_ns(&mut self, plan: &TargetPlan) -> u64 {
        let times = 1_u64.checked_shl(self.attempts).unwrap_or(u64::MAX);
        self.attempts = self.attempts.saturating_add(1);
        plan.retry_ns.saturating_mul(times).min(plan.retry_max_ns)
    }
    /// Resets the wait after a success.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn breaker() -> Breaker {
        let text = "[[target]]\npath='/t'\ndeadline='5s'\nretry='4s'\nretry_max='10s'";
        Breaker::new(&crate::config::Config::from_toml(text, "t").unwrap().plans().unwrap()[0])
    }

    fn look(now_s: u64, open_since_s: Option<u64>, ended: u64) -> Look {
        Look { now_ns: now_s * SECOND, open_since_ns: open_since_s.map(|s| s * SECOND), ended }
    }

    #[test]
    fn a_hang_opens_it_and_the_return_of_the_op_closes_it_after_one_trial() {
        let mut breaker = breaker();
        assert_eq!(breaker.observe(look(105, Some(100), 9)), Step::None);
        assert_eq!(breaker.observe(look(106, Some(100), 9)), Step::Opened);
        assert_eq!(breaker.hung_since_ns(), Some(100 * SECOND));
        assert_eq!(breaker.observe(look(108, None, 10)), Step::Returned);
        assert_eq!((breaker.state(), breaker.hung_since_ns()), (State::HalfOpen, None));
        assert_eq!(breaker.observe(look(109, Some(109), 10)), Step::None);
        assert_eq!(breaker.observe(look(110, None, 11)), Step::Closed);
        assert_eq!(breaker.state(), State::Closed);
    }

    #[test]
    fn trials_back_off_and_a_stuck_trial_does_not_move_the_beginning() {
        let mut breaker = breaker();
        breaker.observe(look(106, Some(100), 0));
        let mut waited = Vec::new();
        let mut last = 106;
        for now in 107..200 {
            let since = if waited.is_empty() { 100 } else { last };
            if breaker.observe(look(now, Some(since), 0)) == Step::Try {
                waited.push(now - last);
                last = now;
                breaker.replaced(now * SECOND, 0);
            }
        }
        // retry, then deadline + 2 retry, then deadline + retry_max each.
        assert_eq!(waited[..4], [4, 13, 15, 15]);
        assert_eq!(breaker.hung_since_ns(), Some(100 * SECOND));
        assert_eq!(breaker.attempts() as usize, waited.len());
    }

    #[test]
    fn a_trial_that_ends_closes_it_though_the_first_never_returns() {
        let mut breaker = breaker();
        breaker.observe(look(106, Some(100), 7));
        assert_eq!(breaker.observe(look(110, Some(100), 7)), Step::Try);
        breaker.replaced(110 * SECOND, 0);
        assert_eq!(breaker.observe(look(111, Some(110), 0)), Step::None);
        assert_eq!(breaker.observe(look(112, None, 1)), Step::Closed);
        assert_eq!(breaker.hung_since_ns(), None);
    }

    #[test]
    fn a_half_open_op_that_hangs_again_is_open_again() {
        let mut breaker = breaker();
        breaker.observe(look(106, Some(100), 7));
        breaker.observe(look(107, None, 8));
        assert_eq!(breaker.observe(look(120, Some(108), 8)), Step::None);
        assert_eq!((breaker.state(), breaker.hung_since_ns()), (State::Open, Some(108 * SECOND)));
    }
}
