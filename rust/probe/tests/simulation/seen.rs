//! What the schedules met, so that a run cannot be lucky without saying so.

use std::sync::atomic::Ordering::Relaxed;

use iosonde_probe::record::health::Health;

use crate::world::Life;

#[derive(Debug, Default)]
pub struct Seen {
    pub lives: u64,
    pub kills: u64,
    pub hangs: u64,
    pub long_hangs: u64,
    pub steps: u64,
    pub full: u64,
    pub refused: u64,
    pub store_hangs: u64,
    pub blocked: u64,
    pub reloads: u64,
    pub rows: u64,
    pub files_dropped: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        for (mine, more) in self.all().into_iter().zip(Self { ..other }.all()) {
            *mine += *more;
        }
    }
}

impl Seen {
    fn all(&mut self) -> [&mut u64; 12] {
        [
            &mut self.lives,
            &mut self.kills,
            &mut self.hangs,
            &mut self.long_hangs,
            &mut self.steps,
            &mut self.full,
            &mut self.refused,
            &mut self.store_hangs,
            &mut self.blocked,
            &mut self.reloads,
            &mut self.rows,
            &mut self.files_dropped,
        ]
    }

    pub fn lived(&mut self, life: &Life, rows: u64, health: &Health, hangs: bool, long: bool) {
        self.lives += 1;
        self.kills += u64::from(life.killed);
        self.hangs += u64::from(hangs);
        self.long_hangs += u64::from(long);
        self.rows += rows;
        self.files_dropped += health.files_dropped.load(Relaxed);
    }

    /// Whether a thousand schedules met enough.
    pub fn is_rich(&self) -> bool {
        let often = [self.kills, self.hangs, self.steps, self.full, self.refused, self.store_hangs];
        let often = often.into_iter().chain([self.blocked, self.reloads]);
        often.min() > Some(100) && self.long_hangs > 4 && self.rows > 1_000_000
    }
}
