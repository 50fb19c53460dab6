"""The law over real stores: real segments, Parquet files and functions; killed before any change of a file.

A hook sees each file that is opened for writing, renamed, removed or made, and may end the process there: nothing that
would still be done, is done. One segment is one run of the probe, so that ``run_id`` tells whose rows are counted.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.engine import spool
from iosonde.engine.contract import INTERVAL_NS
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.segments import contents, every_rollup, every_sealed, spool_segments
from iosonde.engine.remote.joined import join
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.compact import compact
from iosonde.weather.upkeep.retain import retain
from iosonde.weather.upkeep.ship import ship
from tests.kit.law.model import Law, ViolationError, check_rows
from tests.kit.law.schedule import Outcome
from tests.kit.samples.makers import LATENCY, SECOND, START, simulate

GRACES_NS = (0, 600 * SECOND)
_OVER_NS = 2 * DAY_NS
"""Merging takes place so much later than the newest segment, when its day is over."""
_FILES = "*/date=*/host=*/*.parquet"
PUT = "law.put"
"""An event that a test raises before it puts an object into a bucket."""
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", PUT)
_WRITING = os.O_WRONLY | os.O_RDWR


class KilledError(BaseException):
    """The process died: no handler of errors may go on."""


class _Death:
    """Counts changes of files down; at the last one, and at all after it, the process is dead."""

    left: int | None = None

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.left is None:
            return
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if event in _CHANGES or opened:
            self.left -= 1
            if self.left < 0:
                raise KilledError


@cache
def _death() -> _Death:
    """One hook for the whole process: hooks cannot be taken away."""
    death = _Death()
    sys.addaudithook(death)
    return death


@contextmanager
def killed_after(changes: int | None) -> Iterator[None]:
    """Ends what is done inside after so many changes of files, at its beginning or never."""
    death = _death()
    death.left = changes
    try:
        yield
    finally:
        death.left = None


@dataclass
class Folders:
    """Stores of one host on disk."""

    dice: random.Random
    folder: Path
    places: dict[str, Path] = field(default_factory=dict)
    """Of stores that lie elsewhere."""
    laws: dict[str, Law] = field(default_factory=dict)
    rows: dict[str, Counter[tuple[str, int]]] = field(default_factory=dict)
    """Of each segment: rows by op and ten minutes."""
    run_ids: dict[str, str] = field(default_factory=dict)
    now_ns: int = START
    step: int = 0
    kills: int = 0
    log: list[str] = field(default_factory=list)

    def root(self, name: str) -> Path:
        """Where a store lies."""
        return self.places.get(name, self.folder / name)

    def law(self, name: str) -> Law:
        """What must hold of a store."""
        return self.laws.setdefault(name, Law(name))

    def write(self) -> None:
        """The agent writes a segment of one or two ticks of six ops."""
        before = set(spool_segments(self.root("own")))
        target = {"path": "/work", "backend": "null", "latency": LATENCY}
        config = {"store": str(self.root("own")), "host": "login2", "seed": len(self.rows)}
        config |= {"window": "60s", "target": [target], "probe": {"period": "5s"}}
        simulate(config, self.now_ns, self.dice.randint(5, 10) * SECOND)
        for segment in set(spool_segments(self.root("own"))) - before:
            read = spool.read(segment.path)
            assert read is not None
            ops, starts = read.rows.columns["op"], read.rows.columns["due_ns"] // INTERVAL_NS
            named = (read.rows.words["op"][op] for op in ops.tolist())
            self.rows[segment.stem] = Counter(zip(named, starts.tolist(), strict=True))
            self.run_ids[read.rows.words["run_id"][0]] = segment.stem
            self.law("own").written(segment.stem)

    def done(self, name: str, work: Callable[[], object]) -> bool:
        """Whether ``work`` came to its end; one in three times it is killed at one of its first changes."""
        self.log.append(name)
        self.step += 1
        try:
            with killed_after(self.dice.randrange(30) if self.dice.random() < 1 / 3 else None):
                work()
        except KilledError:
            self.kills += 1
            self.log.append("killed")
            return False
        finally:
            self._stamp()
        return True

    def ship(self, source: str, to: str, place: str, environ: dict[str, str]) -> None:
        """Sealed files go elsewhere."""
        law, files = (
            self.law(to),
            (every_sealed(self.root(source)), every_rollup(self.root(source))),
        )
        held = [{stem for one in those for stem in contents(one.path).segments} for those in files]
        law.may_come(self.law(source).may)
        if self.done(f"ship {source} {to}", lambda: ship(self.root(source), place, environ)):
            law.came(self.law(source).must & held[0], self.law(source).rolled & held[1], self.step)

    def compact(self, name: str) -> None:
        """With a random grace time; files are stamped by the clock of this world."""
        grace_ns = self.dice.choice(GRACES_NS)
        if every_sealed(self.root(name)):
            late_ns = self.now_ns + _OVER_NS
            self.done(
                f"compact {name}", lambda: compact(self.root(name), late_ns, grace_ns=grace_ns)
            )

    def retain(self, name: str) -> None:
        """All days but the newest two."""
        root, keep_ns = self.root(name), DAY_NS
        if not every_sealed(root):
            return
        before = utc_date(self.now_ns - keep_ns - DAY_NS)
        old = {
            stem
            for one in every_sealed(root)
            if one.path.parent.parent.name.removeprefix("date=") < before
            for stem in contents(one.path).segments
        }
        self.law(name).may_go(old, self.step)
        self.done(
            f"retain {name}",
            lambda: retain(root, self.now_ns, samples_ns=keep_ns, rollups_ns=None),
        )

    def make_room(self) -> None:
        """As the agent: the oldest file by date and name goes, its segment first."""
        files = every_sealed(self.root("own"))
        if not files:
            return
        oldest, law = files[0], self.law("own")
        held = set(contents(oldest.path).segments)
        kept = {s for one in every_rollup(self.root("own")) for s in contents(one.path).segments}
        law.may_go(held, self.step)
        law.may_unroll(held - kept, self.step)
        for segment in spool_segments(self.root("own")):
            if segment.stem == oldest.stem:
                segment.path.unlink()
        oldest.path.unlink()
        self.log.append(f"make room {oldest.stem}")

    def check(self, *names: str) -> None:
        """Hold what readers count in a store, or in several as one, against the law."""
        roots = [self.root(name) for name in names]
        root = roots[0]
        if len(roots) > 1:
            root = self.folder / "joined"
            shutil.rmtree(root, ignore_errors=True)
            join(roots, root)
        laws = [self.law(name) for name in names]
        must, may, rolled = (
            set().union(*(getattr(law, of) for law in laws)) for of in ("must", "may", "rolled")
        )
        where = f"{' and '.join(names)} at step {self.step}"
        found: Counter[str] = Counter(Store(root).samples(("run_id",))["run_id"].tolist())
        counted = {}
        for run_id, n in found.items():
            stem = self.run_ids[run_id]
            counted[stem] = 1 if n == self.rows[stem].total() else n
        check_rows(counted, must, may, where)
        sums = self._sums(root)
        least, most = (self._right(those) for those in (rolled, may))
        if not least <= sums <= most:
            raise ViolationError(f"roll-ups of {where}: {sums}, expected {least} to {most}")

    def _sums(self, root: Path) -> Counter[tuple[str, int]]:
        frame = Store(root).rollups().frame
        sums: Counter[tuple[str, int]] = Counter()
        starts = np.asarray(frame["start_ns"]) // INTERVAL_NS
        for op, start, n in zip(frame["op"], starts.tolist(), frame["n_due"].tolist(), strict=True):
            sums[str(op), start] += n
        return sums

    def _right(self, segments: set[str]) -> Counter[tuple[str, int]]:
        right: Counter[tuple[str, int]] = Counter()
        for segment in segments:
            right.update(self.rows[segment])
        return right

    def _stamp(self) -> None:
        """Give files that were just written a time by this world: within the grace time of merging, or before."""
        for path in (path for name in self.laws for path in self.root(name).glob(_FILES)):
            if path.stat().st_mtime_ns > START + 60 * DAY_NS:
                written_ns = self.now_ns + _OVER_NS - self.dice.choice((0, HOUR_NS))
                os.utime(path, ns=(written_ns, written_ns))


def outcome(seed: int, steps: int, folder: Path) -> Outcome:
    """One schedule over two folders and both as one."""
    world = Folders(random.Random(seed), folder)
    works: list[tuple[int, Callable[[], object]]] = [
        (4, world.write),
        (3, lambda: world.done("seal", lambda: seal(world.root("own")))),
        (2, lambda: world.ship("own", "shared", str(world.root("shared")), {})),
        (3, lambda: world.compact("own")),
        (3, lambda: world.compact("shared")),
        (1, lambda: world.retain("shared")),
        (1, world.make_room),
    ]
    violation = ""
    try:
        play(world, works, steps, [("own",), ("shared",), ("own", "shared")])
    except ViolationError as error:
        violation = str(error)
    return Outcome(seed, world.step, world.kills, violation, world.log, Counter())


def play(
    world: Folders,
    works: list[tuple[int, Callable[[], object]]],
    steps: int,
    readers: list[tuple[str, ...]],
) -> None:
    """So many works; readers look after each. Raises ViolationError."""
    for name in {name for names in readers for name in names}:
        world.root(name).mkdir(exist_ok=True)
    world.write()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(steps):
            work = world.dice.choices([work for _, work in works], [weight for weight, _ in works])[
                0
            ]
            work()
            world.now_ns += world.dice.choice((1, 1, 1, -1)) * world.dice.choice(
                (60 * SECOND, 700 * SECOND, HOUR_NS, DAY_NS)
            )
            for names in readers:
                world.check(*names)
