//! What the server and the text file speak of: nothing while targets are prepared, then the session's view.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use iosonde_core::clock::{Clock, RealClock};
use iosonde_probe::probe::view::{Status, View};

use crate::exposition::{self, Content, Own, text};

/// Shared by all who show it.
#[derive(Clone)]
pub struct Shown {
    view: Arc<Mutex<Option<Arc<View>>>>,
    start_seconds: f64,
    log_lines_dropped: Arc<AtomicU64>,
    native: bool,
}

impl Shown {
    /// Nothing to show yet; the agent starts now.
    pub fn new() -> Self {
        let start_seconds = RealClock.wall_ns() as f64 / 1e9;
        Self { view: Arc::default(), start_seconds, log_lines_dropped: Arc::default(), native: false }
    }
    /// Show this number of dropped lines of the log.
    pub fn counting(mut self, log_lines_dropped: Arc<AtomicU64>) -> Self {
        self.log_lines_dropped = log_lines_dropped;
        self
    }
    /// Show native histograms to scrapers that can read them.
    pub fn native(mut self, native: bool) -> Self {
        self.native = native;
        self
    }
    /// Whether it does.
    pub fn is_native(&self) -> bool {
        self.native
    }
    /// From now on, speak of this session.
    pub fn show(&self, view: Arc<View>) {
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = Some(view);
    }
    /// The session, once there is one.
    pub fn view(&self) -> Option<Arc<View>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Whether every target is probed, or known to hang or to fail.
    pub fn is_ready(&self) -> bool {
        self.view().is_some_and(|view| {
            view.targets().iter().all(|target| !matches!(target.status(), Status::Preparing | Status::Ready))
        })
    }
    /// The page of metrics as text.
    pub fn page(&self) -> String {
        text::page(&self.content())
    }
    /// What the page says.
    pub fn content(&self) -> Content {
        let log_lines_dropped = self.log_lines_dropped.load(Ordering::Relaxed);
        exposition::content(
            self.view().as_deref(),
            &Own { start_seconds: self.start_seconds, log_lines_dropped },
        )
    }
}
