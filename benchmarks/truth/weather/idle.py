"""False alarms of an agent on storage that nobody uses.

    python -m benchmarks idle --hours 2 DIR DIR       start from an empty store, at 10 Hz
    python -m benchmarks idle --store STORE           judge a recording that is there

``IOSONDE_RECORDING=STORE python -m benchmarks truth --only nulls`` draws streams from a recording.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.truth.weather.recording import recorded
from iosonde.model.arrays import Flags
from iosonde.model.errors import IosondeError
from iosonde.model.events import SlowEvent
from iosonde.weather.events.answers import event_log
from iosonde.weather.events.log import Event, read_events
from iosonde.weather.events.pieces.alarms import alarms
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.told import told_events
from iosonde.weather.samples.operations import LATE, Operations
from iosonde.weather.slowdown import rules
from tests.kit import harness

POLL_S = 10.0
CONFIG = """\
[probe]
period = "100ms"
block_size = "64KiB"
file_size = "256MiB"
pool = 200
"""
HOUR_NS = 3_600_000_000_000

Place = tuple[str, str]
"""Target and op."""


class Given(harness.Agent):
    """An agent whose program is given."""

    program: Path = harness.AGENT

    def start(self) -> harness.Agent:
        """Start it; what it says goes to its log."""
        with self.log.open("wb") as log:
            command = [self.program, "--config", self.config]
            self.process = subprocess.Popen(command, stderr=log)
        return self


@dataclass
class Polls:
    """What ``/metrics`` said: polls, polls in alarm and polls that were slow, by target and op."""

    n: int = 0
    alarm: Counter[Place] = field(default_factory=Counter)
    slow: Counter[Place] = field(default_factory=Counter)

    def add(self, page: str) -> None:
        """Count one page."""
        self.n += 1
        self.alarm.update(place for place, value in _values(page, "iosonde_alarm") if value)
        typ, lower = (dict(_values(page, f"iosonde_slowdown_ratio{end}")) for end in ("", "_lower"))
        for place, value in typ.items():
            columns = (np.array([one]) for one in (value, lower.get(place, np.nan), 1.0))
            self.slow[place] += int(rules.slow(*columns)[0])


def _values(page: str, name: str) -> Iterator[tuple[Place, float]]:
    for labels, value in re.findall(rf"^{name}\{{(.*)\}} (\S+)$", page, re.M):
        named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        yield (named["target"], named["op"]), float(value)


def watch(program: Path, store: Path, targets: list[Path], hours: float) -> Polls:
    """Run an agent on ``targets`` for so long and poll it. Raises AssertionError when it does not come up."""
    polls = Polls()
    text = CONFIG + "".join(f'[[target]]\npath = "{path.resolve()}"\n' for path in targets)
    with tempfile.TemporaryDirectory(prefix="iosonde-idle-") as folder:
        agent = Given(Path(folder), text, store)
        agent.program = program
        agent.start()
        try:
            agent.ready(timeout_s=600)
            end_s = time.monotonic() + hours * 3_600
            while (left_s := end_s - time.monotonic()) > 0:
                time.sleep(min(POLL_S, left_s))
                polls.add(agent.get("/metrics")[1])
            agent.stop()
        finally:
            agent.kill()
    return polls


def show(store: Path, polls: Polls | None) -> None:
    """Print a line a target and op, and a sentence an event."""
    rows, known = recorded(store)
    if not rows:
        print(f"{store} holds no samples")
        return
    now_ns = max(int(one.due_ns[-1]) for one in rows.values()) + 1
    agent = [event for event in read_events(store) if not event.from_samples]
    log = event_log(store, (None, None))
    slow = told_events(store, log, (None, None), now_ns).slow
    wide = max(len("target"), *(len(key.target) for key in rows))
    print(
        f"{'':<{wide + 19}} | {'agent':^22} | {'record':^13} | {'replayed':^16} | {'iosonde':^7} | raised by\n"
        f"{'target':<{wide}} {'op':<11} {'hours':>6} | {'alarms':>6} {'in alarm':>8} {'slow':>6} |"
        f" {'late':>6} {'lost':>6} | {'alarms':>7} {'in alarm':>8} | {'events':>7} | agent; replayed"
    )
    for key, one in rows.items():
        place = (key.target, key.op)
        raised = [e for e in agent if (e.target, e.op) == place and e.kind == "slow"]
        baseline = known.baselines[key]
        in_alarm = _lasted_ns(raised, now_ns)
        again = alarms(one, baseline.at(one.due_ns), baseline.numbers)
        span_ns = now_ns - int(one.due_ns[0])
        lasted_ns = sum((a.cleared_ns or now_ns) - a.raised_ns for a in again)
        events = sum(_of_op(event, place) for event in slow)
        why = (
            _counted(str(e.evidence.get("cause")) for e in raised),
            _counted(a.cause for a in again),
        )
        late = _late(one)
        print(
            f"{key.target:<{wide}} {key.op:<11} {span_ns / HOUR_NS:>6.2f} | {len(raised):>6}"
            f" {_share(polls, 'alarm', place, in_alarm / span_ns):>8} {_share(polls, 'slow', place):>6} |"
            f" {late.mean():>6.4f} {(one.lost() & ~late).mean():>6.4f} | {len(again):>7}"
            f" {lasted_ns / span_ns:>8.4f} | {events:>7} | {'; '.join(why)}"
        )
    print(f"\n{len(slow)} events of `iosonde events`:")
    for event in slow:
        print(f"  {say_slow_event(event, now_ns)} [{event.kind}, {event.cause or 'windows'}]")


def _of_op(event: SlowEvent, place: Place) -> bool:
    shares = (share for share in event.ops if share.start_ns is not None)
    return event.target == place[0] and any(share.op == place[1] for share in shares)


def _late(rows: Operations) -> Flags:
    """Operations that began late although none before them was open: the host, not the storage."""
    free: Flags = np.ones(len(rows), bool)
    free[1:] = rows.ended_ns[:-1] <= rows.due_ns[1:]
    return free & (rows.fate == LATE)


def _counted(causes: Iterable[str]) -> str:
    return ", ".join(f"{n} {cause}" for cause, n in Counter(causes).most_common()) or "-"


def _lasted_ns(raised: list[Event], now_ns: int) -> int:
    """How long alarms lasted that an agent logged."""
    return sum(
        (e.ended_ns or now_ns) - int(e.evidence.get("raised_ns", e.began_ns)) for e in raised
    )


def _share(polls: Polls | None, what: str, place: Place, known: float | None = None) -> str:
    """The share of polls; without polls what is known otherwise."""
    share = known if polls is None or not polls.n else getattr(polls, what)[place] / polls.n
    return "-" if share is None else f"{share:.4f}"


def main(
    *targets: Path,
    hours: float = 2.0,
    agent: Path = harness.AGENT,  # the program to run
    store: Path | None = None,  # where samples are kept, or are
) -> None:
    """Read the options, watch, print."""
    try:
        if not targets:
            if store is None or not store.is_dir():
                sys.exit("expected directories to watch, or --store with a recording")
            show(store, None)
            return
        with tempfile.TemporaryDirectory(prefix="iosonde-idle-store-") as made:
            store = store or Path(made) / "store"
            if store.exists() and any(store.iterdir()):
                sys.exit(f"{store} is not empty, expected a new store")
            show(store, watch(agent, store, targets, hours))
    except IosondeError as error:
        sys.exit(str(error))
