use super::super::ledger::Account;
use super::*;
use iosonde_core::clock::SimClock;
use iosonde_core::sample::Cache;

/// Takes a set time, op by op.
struct Scripted {
    clock: SimClock,
    took_ns: VecDeque<u64>,
    empty: bool,
}

impl Operation for Scripted {
    fn prepare(&mut self) -> Option<Ready> {
        (!self.empty).then_some(Ready { offset_bytes: None, cache: Cache::Unknown })
    }
    fn run(&mut self) -> Outcome {
        self.clock.advance(self.took_ns.pop_front().unwrap_or(1));
        Outcome::OK
    }
    fn settle(&mut self, _: Outcome, _: bool) {}
}

struct Rig {
    clock: SimClock,
    slot: Slot,
    lane: Lane,
    start: u64,
    seen: Vec<Tick>,
}

impl Rig {
    fn new(took_ns: &[u64]) -> Self {
        Self::with_files(took_ns, true)
    }

    /// Without files the operation never has one to work on.
    fn with_files(took_ns: &[u64], files: bool) -> Self {
        let clock = SimClock::new(0);
        let start = clock.monotonic_ns();
        let took_ns = took_ns.iter().copied().collect();
        let script = Scripted { clock: clock.clone(), took_ns, empty: !files };
        let slot = Slot::alone().unwrap();
        slot.reset(0);
        let schedule = Schedule::new(start, 0, 100);
        let shared = Arc::new(clock.clone());
        let lane = Lane::new(Op::MdStat, Box::new(script), schedule, shared, slot.clone());
        Self { clock, slot, lane, start, seen: Vec::new() }
    }

    /// Do the next tick; `during` happens while its operation is open.
    fn step(&mut self, during: impl FnOnce(&Slot)) {
        assert!(self.lane.has_ticks());
        let ready = self.lane.prepare();
        self.clock.sleep_until(self.lane.next_due_ns(), &Stop::default());
        if let Some(opened) = self.lane.open(ready) {
            let (outcome, began_ns, ended_ns) = self.lane.execute();
            during(&self.slot);
            self.lane.finish(opened, outcome, (began_ns, ended_ns), None);
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(run) = self.slot.pop() {
            let ended_ns = run.ended_ns.saturating_sub(self.start);
            let due_ns = |i| run.due_ns - self.start + 100 * u64::from(i);
            self.seen.extend((0..=run.more).map(|i| Tick { due_ns: due_ns(i), ended_ns, more: 0, ..run }));
        }
    }
    fn due(&self) -> Vec<u64> {
        self.seen.iter().map(|tick| tick.due_ns / 100).collect()
    }
}

fn ticks(took_ns: &[u64], steps: usize) -> Vec<Tick> {
    let mut rig = Rig::new(took_ns);
    for _ in 0..steps {
        rig.step(|_| {});
    }
    rig.seen
}

#[test]
fn ticks_taken_away_are_not_ours_and_those_before_them_are() {
    let mut rig = Rig::new(&[10, 950, 10]);
    rig.step(|_| {});
    // Stuck in tick 1: the supervisor takes everything from tick 6 on.
    rig.step(|slot| slot.move_claim(slot.claim(), Claim { end: 6, revoked: true }).unwrap());
    assert_eq!(rig.due(), [0, 1, 2, 3, 4, 5]);
    assert!(rig.seen[2..].iter().all(|tick| tick.outcome == Outcome::SKIPPED && tick.ended_ns == 1050));
    assert!(!rig.lane.has_ticks() && rig.slot.parked());
    // Given back from tick 20 on.
    rig.slot.move_claim(rig.slot.claim(), Claim { end: 20, revoked: false }).unwrap();
    rig.step(|_| {});
    assert_eq!(rig.due()[6..], [20]);
    assert!(!rig.slot.parked());
}

#[test]
fn a_lane_stuck_for_long_accounts_for_a_bounded_number_of_ticks() {
    let mut rig = Rig::new(&[10 * LIMBO * 100]);
    let end = 9 * LIMBO;
    rig.step(|slot| slot.move_claim(slot.claim(), Claim { end, revoked: false }).unwrap());
    rig.step(|_| {});
    let due = rig.due();
    assert_eq!(due[..LIMBO as usize + 1], (0..=LIMBO).collect::<Vec<_>>());
    assert_eq!(due[LIMBO as usize + 1], end, "the supervisor's part is not ours");
    assert!(due[LIMBO as usize + 1..].windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn left_out_ticks_are_rows_that_say_so() {
    let region = Region::new(16, 1).unwrap();
    let mut rig = Rig::new(&[10, 10, 10]);
    rig.lane = rig.lane.paced_by(region.clone());
    region.divide(4);
    for _ in 0..3 {
        rig.step(|_| {});
    }
    let shed: Vec<bool> = rig.seen.iter().map(|tick| tick.outcome == Outcome::SHED).collect();
    assert_eq!(rig.due(), (0..9).collect::<Vec<_>>());
    assert_eq!(shed, [false, true, true, true, false, true, true, true, false]);
}

#[test]
fn ticks_without_a_file_to_work_on_are_left_out_and_not_lost() {
    let mut rig = Rig::with_files(&[], false);
    for _ in 0..3 {
        rig.step(|_| {});
    }
    assert_eq!(rig.due(), [0, 1, 2]);
    assert!(rig.seen.iter().all(|tick| tick.outcome == Outcome::SHED));
}

#[test]
fn a_stall_leaves_one_row_a_tick_and_truthful_response_times() {
    let rows = ticks(&[10, 450, 10], 3);
    let due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
    assert_eq!(due, [0, 100, 200, 300, 400, 500, 600]);
    let response: Vec<u64> = rows.iter().map(|row| row.ended_ns - row.due_ns).collect();
    assert_eq!(response, [10, 450, 350, 250, 150, 50, 10]);
    let skipped = rows.iter().filter(|row| row.outcome == Outcome::SKIPPED).count();
    assert_eq!(skipped, 4);
}

#[test]
fn an_operation_that_ends_just_before_the_next_tick_skips_none() {
    let rows = ticks(&[99, 100, 10], 3);
    let due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
    assert_eq!(due, [0, 100, 200, 300]);
    assert_eq!(rows[2].outcome, Outcome::SKIPPED);
}

#[test]
fn a_full_ring_delays_rows_and_loses_none() {
    let rows = ticks(&[2_000], 24);
    let mut due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
    let sent = due.len();
    due.dedup();
    assert_eq!((sent, due[0]), (due.len(), 0));
    assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 100));
}

/// A lane with its account: a hang of `ticks`, looked at every `beat` ticks, then `after` more ticks, then the end.
fn rows_of_a_hang(ticks: u64, beat: u64, after: usize) -> Vec<u64> {
    let mut rig = Rig::new(&[ticks * 100 + 50]);
    let mut account = Account::open(rig.slot.clone(), Schedule::new(rig.start, 0, 100), 0);
    let (start, mut due) = (rig.start, Vec::new());
    let mut row = |tick: Tick| due.push((tick.due_ns - start) / 100);
    let ready = rig.lane.prepare();
    let opened = rig.lane.open(ready).expect("tick 0");
    for k in (0..ticks).step_by(beat as usize) {
        account.relieve(start + k * 100, &mut row);
        account.drain(&mut row);
    }
    let (outcome, began_ns, ended_ns) = rig.lane.execute();
    rig.lane.finish(opened, outcome, (began_ns, ended_ns), None);
    for _ in 0..after {
        assert!(rig.lane.has_ticks());
        let ready = rig.lane.prepare();
        rig.clock.sleep_until(rig.lane.next_due_ns(), &Stop::default());
        let opened = rig.lane.open(ready).expect("its tick");
        let (outcome, began_ns, ended_ns) = rig.lane.execute();
        rig.lane.finish(opened, outcome, (began_ns, ended_ns), None);
        account.drain(&mut row);
    }
    let now_ns = rig.clock.monotonic_ns();
    let end = account.settle(now_ns, &mut row);
    account.left(end, now_ns, 1, &mut row);
    due.sort_unstable();
    due
}

#[test]
fn however_long_a_hang_every_tick_is_one_row() {
    for (ticks, beat, after) in [(300, 10, 3), (LIMBO, 50, 0), (3 * LIMBO, 25, 1), (20_000, 500, 40)] {
        let due = rows_of_a_hang(ticks, beat, after);
        let all: Vec<u64> = (0..=ticks + after as u64).collect();
        assert_eq!(
            due.len(),
            all.len(),
            "hang of {ticks} ticks: {} double",
            due.len() as i64 - all.len() as i64
        );
        assert!(due == all, "hang of {ticks} ticks");
    }
}

/// Fate of each tick: number, outcome, and the time the host kept it waiting.
fn fates(rig: &Rig) -> Vec<(u64, Outcome, Option<u64>)> {
    let waited = |tick: &Tick| (tick.run_queue_ns != u64::MAX).then_some(tick.run_queue_ns);
    rig.seen.iter().map(|tick| (tick.due_ns / 100, tick.outcome, waited(tick))).collect()
}

#[test]
fn ticks_that_only_the_wait_for_a_cpu_blocked_are_left_out() {
    let mut rig = Rig::new(&[450]);
    let ready = rig.lane.prepare();
    let opened = rig.lane.open(ready).expect("tick 0");
    let (outcome, began_ns, ended_ns) = rig.lane.execute();
    rig.lane.finish(opened, outcome, (began_ns, ended_ns), Some((1_000, 1_300)));
    rig.drain();
    let (shed, skipped) = (Outcome::SHED, Outcome::SKIPPED);
    // Without its 300 ns of waiting it had ended at 150.
    let runs = [(0, Outcome::OK, Some(300)), (1, skipped, None), (2, shed, Some(250))];
    assert_eq!(fates(&rig)[..3], runs);
    assert_eq!(rig.due(), [0, 1, 2, 3, 4]);
    assert!(fates(&rig)[3..].iter().all(|tick| tick.1 == shed));
}

#[test]
fn ticks_that_a_sleeping_host_missed_are_left_out_and_those_of_a_lane_that_was_not_ready_are_not() {
    let mut rig = Rig::new(&[10, 10]);
    rig.clock.advance(230);
    rig.step(|_| {});
    assert_eq!(fates(&rig)[..2], [(0, Outcome::SKIPPED, None), (1, Outcome::SKIPPED, None)]);
    rig.clock.advance(360);
    rig.step(|_| {});
    assert_eq!(rig.due(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(fates(&rig)[3], (3, Outcome::SHED, Some(300)));
    assert_eq!(rig.seen[6].outcome, Outcome::OK);
}
