"""An agent at full rate with faults, killed workers and a full store: growth, missing ticks.

    python -m benchmarks soak --minutes 30 --hz 50

Exit code 1 when the supervisor's memory or descriptors grow, a tick is missing or twice, or something is left behind.
Without root the store is never full.
"""

import contextlib
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import process
from benchmarks.soak.mischief import Mischief, faults
from benchmarks.soak.soaked import Outcome, Reading, show
from benchmarks.soak.ticks import count, keep_segments
from tests.kit import harness

MOST_MIB_PER_HOUR = 1.0
BETWEEN_READINGS_S = 5.0
QUIET_END_S = 15.0
"""Without faults at the end, so that everything can recover."""


@dataclass(frozen=True)
class Options:
    """How to soak."""

    seconds: float
    hz: float = 50.0
    targets: int = 3
    window_s: int = 10
    kill_every_s: float = 30.0
    fault_every_s: float = 15.0
    seed: int = 0


class Soak:
    """One agent that is soaked."""

    def __init__(self, options: Options, folder: Path, store: Path, mount: Path | None) -> None:
        self.options, self.mount = options, mount
        self.dice = random.Random(options.seed)
        self.kept = store.with_name("kept")
        self.agent = harness.Agent(folder, self._config(folder), store)
        self.outcome = Outcome()
        self.unburied: set[tuple[int, int]] = set()

    def _config(self, folder: Path) -> str:
        options = self.options
        text = f'window = "{options.window_s}s"\nflush = "1s"\n[probe]\n'
        text += f'period = "{1000 / options.hz:g}ms"\nfile_size = "16MiB"\nblock_size = "64KiB"\npool = 64\n'
        text += 'deadline = "1s"\nretry = "1s"\nretry_max = "4s"\n'
        for number in range(options.targets):
            path = folder / "targets" / f"t{number}"
            path.mkdir(parents=True)
            text += f'[[target]]\npath = "{path}"\nname = "t{number}"\n'
            end_s = options.seconds - QUIET_END_S
            text += "".join(faults(self.dice, self.warm_up_s, end_s, options.fault_every_s))
        return text

    @property
    def warm_up_s(self) -> float:
        """Until the first windows are closed and their files open."""
        return 2.0 * self.options.window_s + 1.0

    def run(self) -> Outcome:
        """All of it."""
        agent, options = self.agent.start(), self.options
        try:
            agent.ready()
            assert agent.process is not None
            self.pid, self.began_s = agent.process.pid, time.monotonic()
            self._go_on(self.warm_up_s, read=False)
            self._read(steady=True)
            store = self.mount
            mischief = Mischief(self.pid, self.dice, options.kill_every_s, store)
            try:
                self._go_on(options.seconds - QUIET_END_S)
            finally:
                mischief.stop()
            self.outcome.kills, self.outcome.fulls = mischief.kills, mischief.fulls
            self._go_on(options.seconds, read=False)
            harness.wait_for("all to be well again", self._is_well, 60)
            self._read(steady=True)
            self._end()
        finally:
            agent.kill()
        self._judge()
        return self.outcome

    def _is_well(self) -> bool:
        page = self.agent.get("/metrics")[1]
        stuck = re.findall(r'^iosonde_workers\{.*kind="stuck"\} (\d+)$', page, re.M)
        up = re.findall(r"^iosonde_target_up\{.*\} (\d)$", page, re.M)
        waiting = re.findall(r"^iosonde_spool_waiting_rows (\d+)$", page, re.M)
        return set(stuck) == {"0"} and set(up) == {"1"} and waiting == ["0"]

    def _go_on(self, until_s: float, read: bool = True) -> None:
        """Scrape every second, read every five."""
        next_reading_s = self._now_s() + BETWEEN_READINGS_S
        while (now_s := self._now_s()) < until_s:
            try:
                asked = time.monotonic()
                self.agent.get("/metrics", timeout_s=10)
                self.outcome.scrapes_s.append(time.monotonic() - asked)
            except OSError as error:
                self.outcome.problems.append(f"/metrics after {now_s:.0f} s: {error}")
                if process.stat(self.pid) is None:
                    return
            keep_segments(self.agent.store, self.kept)
            if read and now_s >= next_reading_s:
                self._read()
                next_reading_s += BETWEEN_READINGS_S
            time.sleep(max(0.0, min(1.0, until_s - self._now_s())))

    def _now_s(self) -> float:
        return time.monotonic() - self.began_s

    def _read(self, steady: bool = False) -> None:
        """Take a reading; a steady one has the fewest descriptors of a second."""
        workers = process.children(self.pid)
        dead = {(pid, one.started) for pid, one in workers.items() if one.state == "Z"}
        if left := dead & self.unburied:
            self.outcome.problems.append(f"nobody waits for {left}")
        self.unburied = dead
        self.outcome.workers |= {(pid, one.started) for pid, one in workers.items()}
        own = process.use(self.pid)
        for _ in range(10 if steady else 0):
            time.sleep(0.1)
            another = process.use(self.pid)
            own = min(filter(None, (own, another)), key=lambda use: use.fds, default=None)
        if own is None:
            self.outcome.problems.append("the agent is gone")
            return
        total = process.family_pss_mib(self.pid)
        self.outcome.readings.append(Reading(self._now_s(), own, total, len(workers) - len(dead)))

    def _end(self) -> None:
        outcome, asked_ns = self.outcome, time.time_ns()
        outcome.workers |= {(pid, one.started) for pid, one in process.children(self.pid).items()}
        code = self.agent.stop()
        if code != 0:
            outcome.problems.append(f"exit code {code}")
        with contextlib.suppress(AssertionError):
            harness.wait_for("the workers to go", lambda: not self._living(), 10)
        if left := self._living():
            outcome.problems.append(f"workers left behind: {left}")
        keep_segments(self.agent.store, self.kept)
        outcome.ticks = count(self.kept, 1e9 / self.options.hz, asked_ns)

    def _living(self) -> list[int]:
        found = ((pid, process.stat(pid), started) for pid, started in self.outcome.workers)
        return [pid for pid, now, started in found if now and now.started == started]

    def _judge(self) -> None:
        outcome, growth = self.outcome, self.outcome.growth()
        if outcome.is_long and growth.lower > MOST_MIB_PER_HOUR:
            outcome.problems.append(f"the supervisor grows by {growth}, MiB/h")
        first, last = outcome.first.supervisor, outcome.last.supervisor
        if last.fds > first.fds:
            outcome.problems.append(f"{first.fds} descriptors became {last.fds}")
        if last.threads > first.threads:
            outcome.problems.append(f"{first.threads} threads became {last.threads}")
        if outcome.ticks:
            expected = 6 * self.options.targets
            outcome.problems += outcome.ticks.problems(expected, self._said_written())
        if "panicked" in self.agent.log.read_text():
            outcome.problems.append(f"a panic: {self.agent.log.read_text()[-2000:]}")

    def _said_written(self) -> int | None:
        found = re.findall(r"(\d+) samples written", self.agent.log.read_text())
        return int(found[-1]) if found else None


@contextlib.contextmanager
def places(options: Options, folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Where the store is, and the mount that may be made small; targets lie below ``folder``."""
    with contextlib.ExitStack() as stack:
        if os.geteuid() != 0:
            yield folder / "store", None
            return
        targets_mib = 32 + 24 * options.targets
        stack.enter_context(harness.tmpfs(folder / "targets", f"size={targets_mib}m"))
        rows_mib = options.seconds * options.hz * 6 * options.targets * 50 / 2**20
        size_mib = 64 + int(1.5 * rows_mib)
        mount = stack.enter_context(harness.tmpfs(folder / "memory", f"size={size_mib}m"))
        yield mount / "store", mount


def soak(options: Options, folder: Path) -> Outcome:
    """Soak an agent in ``folder``."""
    with places(options, folder) as (store, mount):
        return Soak(options, folder, store, mount).run()


def main(
    minutes: float = 30.0,
    hz: float = 50.0,
    targets: int = 3,
    seed: int = random.randrange(1 << 32),
) -> None:
    """Read the options, soak, print; exit 1 when something is wrong."""
    options = Options(minutes * 60, hz, targets, seed=seed)
    print(
        f"--minutes {minutes:g} --hz {hz:g} --targets {targets} --seed {seed}",
        flush=True,
    )
    parent = os.environ.get("TMPDIR", "/var/tmp")
    with tempfile.TemporaryDirectory(prefix="iosonde-soak-", dir=parent) as name:
        outcome = soak(options, Path(name))
    show(outcome)
    sys.exit(1 if outcome.problems else 0)
