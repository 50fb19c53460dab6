//! Signals become events for the main thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use iosonde_core::clock::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// What somebody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Read the configuration again.
    Reload,
    /// End.
    End,
}

/// Events, and the stop that is raised with the first [`Event::End`].
pub struct Signals {
    /// In the order they came.
    pub events: Receiver<Event>,
    /// Raised when the end was asked for.
    pub stop: Arc<Stop>,
}

impl Signals {
    /// SIGHUP reloads; the first SIGTERM or SIGINT asks for the end, a second one ends at once.
    pub fn watch() -> std::io::Result<Self> {
        let stop = Stop::new();
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let (raised, (sender, events)) = (Arc::clone(&stop), channel());
        std::thread::Builder::new().name("signals".into()).stack_size(64 << 10).spawn(move || {
            for signal in signals.forever() {
                let event = if signal == SIGHUP { Event::Reload } else { Event::End };
                if event == Event::End {
                    if raised.raised() {
                        std::process::exit(128 + signal);
                    }
                    raised.raise([]);
                }
                // Without a main thread there is nobody to tell.
                let _ = sender.send(event);
            }
        })?;
        Ok(Self { events, stop })
    }
}
