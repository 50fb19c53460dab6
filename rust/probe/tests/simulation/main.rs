//! The whole probe on simulated clocks, from printed seeds: whatever storage, store, log, clock, reloads and kills do,
//! every tick is one row and nothing of others is touched.
//!
//! `IOSONDE_SEED=n` replays one schedule. `IOSONDE_SCHEDULES`, `IOSONDE_KILLS` and `IOSONDE_DAMAGED` say how many schedules,
//! kills and damaged files of a kind are tried.

mod check;
mod damage;
mod faults;
mod kills;
mod model;
mod seen;
mod trials;
mod world;

use std::sync::Mutex;

use iosonde_core::seed::fresh;
use trials::{number, tried};
use world::World;

#[test]
fn any_schedule_of_starts_kills_hangs_full_disks_and_clock_steps_leaves_every_tick_accounted_for() {
    let (first, count) = match number("IOSONDE_SEED") {
        Some(seed) => (seed, 1),
        None => (fresh() >> 20, number("IOSONDE_SCHEDULES").unwrap_or(20)),
    };
    let seen = Mutex::new(seen::Seen::default());
    tried("schedules", first, count, |seed| {
        let met = World::new(seed).live();
        *seen.lock().expect("nobody panics with it") += met;
    });
    let seen = seen.into_inner().expect("nobody panics with it");
    println!("{seen:?}");
    // A thousand schedules that never met a hang or a kill would prove nothing.
    assert!(count < 1000 || seen.is_rich(), "{seen:?}");
}

#[test]
fn the_same_seed_gives_the_same_samples() {
    for seed in [1, 2, 3] {
        let samples = || World::new(seed).keeping().samples_of_one_life();
        assert_eq!(samples(), samples(), "seed {seed}");
    }
}

#[test]
fn a_reload_misses_no_tick_of_what_stays() {
    World::new(fresh() >> 20).reload();
}

#[test]
fn a_kill_at_any_step_costs_what_was_not_written() {
    let (seed, kills) = (fresh() >> 20, number("IOSONDE_KILLS").unwrap_or(20));
    let world = || World::new(seed).steady();
    let all = world().killed(kills::Kill::Late);
    assert!(all.0 > 50 && all.1 > 500, "{all:?} calls and steps are few");
    tried("kills", seed, kills, |number| {
        world().killed(kills::spread(number - seed, kills, all));
    });
}

#[test]
fn damaged_files_of_every_kind_cost_no_row() {
    let (seed, count) = (fresh() >> 20, number("IOSONDE_DAMAGED").unwrap_or(12));
    for kind in damage::KINDS {
        tried(&format!("damaged-{kind}"), seed, count, |seed| World::new(seed).steady().damaged(kind));
    }
}
