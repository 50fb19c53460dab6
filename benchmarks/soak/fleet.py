"""Agents of many hosts on one store that is sealed, merged and read while agents are killed.

    python -m benchmarks fleet --agents 50 --minutes 10

Counted end to end, for every run of every agent: no tick between its first and its last is missing or twice; all rows
that the agent said it had written just before it was killed are there; what the kill cost, in seconds. A reader counts
all the while: its count never falls. Exit code 1 when one of that does not hold.
"""

import contextlib
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.engine.layout.segments import every_sealed
from iosonde.engine.reader import SampleFilter, with_samples
from iosonde.model.units import DAY_NS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.compact import compact
from tests.kit import harness

FLUSH_S = 2.0
"""What a kill may cost (docs/store.md), and the row of the tick that runs."""
_CONFIG = """\
host = "node{number:03}"
flush = "2s"
[probe]
period = "{period_ms}ms"
file_size = "4MiB"
block_size = "64KiB"
pool = 16
[[target]]
path = "{target}"
name = "work"
"""


@dataclass(frozen=True)
class Ended:
    """A run that ended: rows that its agent had written shortly before, and when that was over."""

    run: str
    said_rows: int
    ended_ns: int
    killed: bool


@dataclass
class Found:
    """What the end of it looks like. ``lost_s``: what kills cost."""

    rows: int = 0
    runs: int = 0
    kills: int = 0
    sealed: int = 0
    merged: int = 0
    reads: int = 0
    files: int = 0
    lost_s: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = f"{max(self.lost_s):.2f} s at most" if self.lost_s else "nothing"
        return (
            f"{self.rows:,} rows of {self.runs} runs, {self.kills} kills ({lost} lost by one), "
            f"{self.sealed} segments sealed, {self.merged} files merged, {self.files} files left, "
            f"{self.reads} reads meanwhile, {len(self.problems)} problems"
        )


class Fleet:
    """Agents on one store."""

    def __init__(self, folder: Path, agents: int, period_ms: int) -> None:
        self.store = folder / "store"
        self.period_s = period_ms / 1000
        self.agents = []
        for number in range(agents):
            own = folder / f"agent{number}"
            target = folder / "work"
            own.mkdir()
            target.mkdir(exist_ok=True)
            text = _CONFIG.format(number=number, period_ms=period_ms, target=target)
            self.agents.append(harness.Agent(own, text, self.store))
        self.ended: list[Ended] = []
        self.found = Found()
        self._over = threading.Event()

    def run(self, seconds: float, kill_every_s: float, killed: int) -> Found:
        """All of it; ``killed``: so many agents take turns to be killed and started again."""
        try:
            for agent in self.agents:
                agent.start()
            for agent in self.agents:
                agent.ready(180)
            work = [self._upkeep, self._read]
            threads = [threading.Thread(target=self._guarded, args=(one,)) for one in work]
            for thread in threads:
                thread.start()
            end_s, turn = time.monotonic() + seconds, 0
            while (left_s := end_s - time.monotonic()) > 0:
                time.sleep(min(kill_every_s, left_s))  # the measurement: agents run meanwhile
                if end_s - time.monotonic() > kill_every_s:
                    self._kill(self.agents[turn % killed])
                    turn += 1
            for agent in self.agents:
                self._end(agent, killed=False)
            self._over.set()
            for thread in threads:
                thread.join()
        finally:
            self._over.set()
            for agent in self.agents:
                agent.kill()
        self._sealed_and_merged()
        self._judge()
        return self.found

    def _kill(self, agent: harness.Agent) -> None:
        """Kill an agent and its workers, then start it again."""
        self._end(agent, killed=True)
        agent.address = None
        agent.start().ready(180)

    def _end(self, agent: harness.Agent, killed: bool) -> None:
        run = self._run_of(agent)
        said = int(agent.metric("iosonde_spool_rows_total") or 0)
        if killed:
            agent.kill()
            self.found.kills += 1
        else:
            agent.stop()
        self.ended.append(Ended(run, said, time.time_ns(), killed))

    def _run_of(self, agent: harness.Agent) -> str:
        """The id of an agent's run, as its state names it."""
        host = f"node{self.agents.index(agent):03}"
        return next(str(one["run_id"]) for one in Store(self.store).states() if one["host"] == host)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do something again and again; what goes wrong is a problem."""
        while not self._over.is_set():
            try:
                work()
            except Exception as error:
                self.found.problems.append(f"{work.__name__}: {type(error).__name__}: {error}")
            self._over.wait(1.0)

    def _upkeep(self) -> None:
        self.found.sealed += len(seal(self.store))
        if (self.store / "samples").is_dir():
            # As if the day were over: files of a day that goes on wait for more.
            self.found.merged += compact(self.store, time.time_ns() + 2 * DAY_NS, grace_ns=0).merged

    def _sealed_and_merged(self) -> None:
        self._upkeep()
        self._upkeep()
        self.found.files = len(every_sealed(self.store))

    def _read(self) -> None:
        before = self.found.rows
        self.found.rows = Store(self.store).count()
        self.found.reads += 1
        if self.found.rows < before:
            self.found.problems.append(f"a reader saw {before} rows, then {self.found.rows}")

    def _judge(self) -> None:
        sql = (
            "SELECT run_id, op, count(*), count(DISTINCT due_ns), min(due_ns), max(due_ns) "
            "FROM samples WHERE outcome <> 'pending' GROUP BY ALL"
        )
        table = with_samples(self.store, SampleFilter(), lambda con: con.execute(sql).fetchall())
        self.found.rows = Store(self.store).count()
        period_ns = self.period_s * 1e9
        for ended in self.ended:
            mine = [row for row in table if row[0] == ended.run]
            rows = sum(row[2] for row in mine)
            if len(mine) != 6 or rows < ended.said_rows:
                said = (
                    f"{ended.run}: {rows} rows of {len(mine)} ops, its agent said {ended.said_rows}"
                )
                self.found.problems.append(said)
            for _, op, n, distinct, first, last in mine:
                due = round((last - first) / period_ns) + 1
                if n != distinct or n != due:
                    self.found.problems.append(f"{ended.run} {op}: {n} rows for {due} ticks")
            if ended.killed and mine:
                lost_s = max(0.0, (ended.ended_ns - max(row[5] for row in mine)) / 1e9)
                self.found.lost_s.append(lost_s)
                if lost_s > FLUSH_S + 2 * self.period_s + 1.0:
                    self.found.problems.append(f"{ended.run}: the kill cost {lost_s:.1f} s")
        self.found.runs = len(self.ended)


def fleet(agents: int, seconds: float, kill_every_s: float, period_ms: int = 1000) -> Found:
    """Run it in a folder that goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="iosonde-fleet-") as folder:
        one = Fleet(Path(folder), agents, period_ms)
        return one.run(seconds, kill_every_s, killed=max(2, min(6, agents // 2)))


def main(agents: int = 50, minutes: float = 10.0, kill_every: float = 10.0) -> int:
    """Print what was counted."""
    found = fleet(agents, 60 * minutes, kill_every)
    print(found)
    with contextlib.suppress(BrokenPipeError):
        print("\n".join(found.problems[:20]))
    return 1 if found.problems else 0
