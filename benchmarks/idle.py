"""Alarms of an agent on storage that nobody uses, where every one is false; then iosonde's own view of the record.

    python -m benchmarks.idle --hours 2 DIR DIR       start from an empty store, at 10 Hz
    python -m benchmarks.idle --store STORE           judge a recording that is there

``IOSONDE_RECORDING=STORE python -m benchmarks.truth --only nulls`` draws streams from a recording.
"""

import argparse
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.recording import recorded
from iosonde.model.errors import IosondeError
from iosonde.weather import answers
from iosonde.weather.events.log import read_events
from iosonde.weather.events.pieces.alarms import alarms
from iosonde.weather.events.slow_words import say_slow_event
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
    noted = read_events(store)
    log = answers.event_log(store, (None, None))
    found = answers.events(store, log, (None, None), now_ns)
    print(
        f"{'target':<10} {'op':<11} {'hours':>5} {'rows':>7} | {'agent: alarms':>13} {'in alarm':>8}"
        f" {'slow':>6} | {'replayed':>8} {'in alarm':>8} {'events':>6}  raised by (agent; replayed)"
    )
    for key, one in rows.items():
        place = (key.target, key.op)
        mine = [e for e in noted if (e.target, e.op) == place and e.kind == "slow"]
        baseline = known.baselines[key]
        again = alarms(one, baseline.at(one.due_ns), baseline.numbers)
        span_ns = now_ns - int(one.due_ns[0])
        lasted = [((a.cleared_ns or now_ns) - a.raised_ns) / span_ns for a in again]
        events = sum(
            event.target == key.target and share.op == key.op and share.start_ns is not None
            for event in found.slow
            for share in event.ops
        )
        causes = [str(e.evidence.get("cause")) for e in mine if not e.from_samples]
        why = f"{_counted(causes)}; {_counted([a.cause for a in again])}"
        print(
            f"{key.target:<10} {key.op:<11} {span_ns / HOUR_NS:>5.1f} {len(one):>7} |"
            f" {len(causes):>13} {_share(polls, 'alarm', place):>8}"
            f" {_share(polls, 'slow', place):>6} | {len(again):>8} {sum(lasted):>8.4f}"
            f" {events:>6}  {why}"
        )
    print(f"\n{len(found.slow)} events of `iosonde events`:")
    for event in found.slow:
        print(f"  {say_slow_event(event, now_ns)} [{event.kind}, {event.cause or 'windows'}]")


def _counted(causes: list[str]) -> str:
    return ", ".join(f"{n} {cause}" for cause, n in Counter(causes).most_common()) or "-"


def _share(polls: Polls | None, what: str, place: Place) -> str:
    return "-" if polls is None or not polls.n else f"{getattr(polls, what)[place] / polls.n:.4f}"


def main() -> None:
    """Read the options, watch, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idle", description=__doc__)
    parser.add_argument("targets", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--agent", type=Path, default=harness.AGENT, help="the program to run")
    parser.add_argument("--store", type=Path, help="where samples are kept, or are")
    given = parser.parse_args()
    print(machine.line())
    try:
        if not given.targets:
            if given.store is None or not given.store.is_dir():
                parser.error("expected directories to watch, or --store with a recording")
            show(given.store, None)
            return
        with tempfile.TemporaryDirectory(prefix="iosonde-idle-store-") as made:
            store = given.store or Path(made) / "store"
            if store.exists() and any(store.iterdir()):
                parser.error(f"{store} is not empty, expected a new store")
            show(store, watch(given.agent, store, given.targets, given.hours))
    except IosondeError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
