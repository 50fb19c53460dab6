"""Stores of many kinds, each made in a second: simulated agents that run, that ended, and records without an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.weather.seal import seal
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import LATENCY, SECOND, simulate
from tests.kit.samples.stores import say_it_runs

MINUTE, HOUR, DAY = 60, 3600, 86_400
NOW = (1_788_739_200 + 30 * DAY) * SECOND
"""When every store is asked: a Wednesday, 00:00 UTC."""
CREATE, DELETE, READ, STAT = "md_create", "md_delete", "data_read", "md_stat"
OPS = (READ, "data_write", CREATE, STAT, "md_read", DELETE)


class Kind(NamedTuple):
    """A store of the ``length_s`` before ``NOW``. ``slow``: begin, end (s) and factor of ``op``, where that is true.

    ``reason``: why nothing was judged. ``off_s``: by how much a begin and an end may be off.
    """

    make: Callable[[Path, int], object]
    length_s: int
    slow: tuple[int, int, float] | None = None
    op: str = CREATE
    reason: str | None = None
    off_s: int = 10


def fault(op: str, begin_s: int, end_s: int, **how: Any) -> dict[str, Any]:
    """A fault of a simulated storage."""
    return {"op": op, "after": f"{begin_s}s", "for": f"{end_s - begin_s}s", **how}


def target(name: str, *faults: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A target on a simulated storage."""
    plain = {"path": name, "name": name, "backend": "null", "latency": LATENCY}
    return {**plain, "fault": list(faults), **more}


def agents(
    *hosts: tuple[str, Sequence[dict[str, Any]]],
    runs: bool = True,
    window: str = "60s",
    after: Callable[[Path], object] | None = None,
) -> Callable[[Path, int], None]:
    """Agents of some hosts and their targets, until ``NOW``; ``runs``: they go on."""

    def make(root: Path, length_s: int) -> None:
        for place, (host, targets) in enumerate(hosts):
            config = {"store": str(root), "host": host, "seed": 7 + place, "window": window}
            simulate(
                {**config, "target": list(targets)}, NOW - length_s * SECOND, length_s * SECOND
            )
        if runs:
            say_it_runs(root, NOW)
        if after is not None:
            after(root)

    return make


def agent(*faults: dict[str, Any], **options: Any) -> Callable[[Path, int], None]:
    """One agent with one target."""
    more = {"period": options.pop("period")} if "period" in options else {}
    return agents(("login2", [target("/work", *faults, **more)]), **options)


def slow(
    begin_s: int,
    end_s: int,
    factor: float,
    op: str = CREATE,
    length_s: int | None = None,
    **options: Any,
) -> Kind:
    """One op of one target, slow for a time."""
    make = agent(fault(op, begin_s, end_s, multiply=factor), **options)
    length = end_s if length_s is None else length_s
    return Kind(make, length, (begin_s, min(end_s, length), factor), op)


def records(*troubles: Trouble, seed: int = 1, **options: Any) -> Callable[[Path, int], None]:
    """Samples without an agent, until ``NOW``."""

    def make(root: Path, length_s: int) -> None:
        rng = np.random.default_rng(seed)
        ops = {"ops": (READ, CREATE)} | options
        made(root, rng, NOW - length_s * SECOND, length_s, troubles, **ops)

    return make


def recorded(
    period_s: int, length_s: int, begin_s: int, end_s: int, factor: float, off_s: int, **more: Any
) -> Kind:
    """Creates of one period, slow for a time."""
    make = records(Trouble(CREATE, begin_s, end_s, factor), period_s=period_s, **more)
    return Kind(make, length_s, (begin_s, end_s, factor), off_s=off_s)


def _crashed(root: Path) -> None:
    """The states look as those of a probe that was killed five minutes ago."""
    say_it_runs(root, NOW - 300 * SECOND)


def _unreadable(root: Path) -> None:
    for path in root.glob("state/*/*.json"):
        path.write_text("{")


def _damaged_part(root: Path) -> None:
    """One sealed file is cut in half."""
    seal(root)
    path = sorted(root.glob("samples/*/*/*.parquet"))[0]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _shipped(root: Path) -> None:
    """States are copies, made when they were written."""
    seal(root)
    for path in root.glob("state/*/*.json"):
        state = json.loads(path.read_text())
        path.write_text(json.dumps(state | {"shipped_ns": state["written_ns"]}))


_WOKEN = fault(READ, 2 * HOUR, 3 * HOUR, multiply=2.3)


def _of_memory(random: np.random.Generator, n: int) -> np.ndarray:
    return 13 / 5000 * np.exp(0.3 * random.normal(size=n))


def _heavy(random: np.random.Generator, n: int) -> np.ndarray:
    tail = np.where(random.random(n) < 0.03, random.pareto(1.1, n) * 10 + 1, 1.0)
    return np.exp(0.3 * random.normal(size=n)) * tail


def _bimodal(random: np.random.Generator, n: int) -> np.ndarray:
    return np.where(random.random(n) < 0.3, 0.05, 1.0) * np.exp(0.25 * random.normal(size=n))


def _correlated(random: np.random.Generator, n: int) -> np.ndarray:
    keep, load, at = np.exp(-1 / 120), np.empty(n), 0.0
    steps = random.normal(size=n) * 0.15 * np.sqrt(1 - keep**2)
    for place, step in enumerate(steps):
        load[place] = at = keep * at + step
    return np.exp(load + 0.25 * random.normal(size=n))


_TWO = (
    fault(CREATE, 2 * HOUR, 3 * HOUR, multiply=4),
    fault(DELETE, 2 * HOUR, 3 * HOUR, multiply=9),
)
_STAGGERED = (
    fault(CREATE, 2 * HOUR, 3 * HOUR, multiply=4),
    fault(DELETE, 2 * HOUR + 600, 3 * HOUR, multiply=9),
)
_SLOW = (fault(CREATE, 2 * HOUR, 3 * HOUR, multiply=4),)
_BESIDE = (
    Trouble(READ, 3 * HOUR, 3 * HOUR + 1200, float("inf"), share=0.2),
    Trouble(CREATE, 3 * HOUR, 3 * HOUR + 430, float("inf"), share=0.2),
    Trouble(CREATE, 3 * HOUR + 430, 3 * HOUR + 1200, 400.0),
)

KINDS: dict[str, Kind] = {
    "first minute": Kind(agent(), 50, reason="learning"),
    "three minutes": Kind(agent(), 3 * MINUTE, reason="learning"),
    "first hour": Kind(agent(), 40 * MINUTE),
    "second hour": Kind(agent(), 2 * HOUR),
    "slow for 45 s, goes on": slow(2 * HOUR, 2 * HOUR + 45, 6),
    "slow for 100 s, goes on": slow(2 * HOUR, 2 * HOUR + 100, 6),
    "slow for 3 min, goes on": slow(2 * HOUR, 2 * HOUR + 180, 4),
    "slow for 7 min, goes on": slow(2 * HOUR, 2 * HOUR + 420, 4),
    "slow for 25 min, goes on": slow(2 * HOUR, 2 * HOUR + 1500, 4),
    "slow for 80 min, goes on": slow(HOUR + 900, 2 * HOUR + 2100, 4),
    "2.5x, goes on": slow(2 * HOUR, 2 * HOUR + 1200, 2.5),
    "60x, goes on": slow(2 * HOUR, 2 * HOUR + 900, 60, READ),
    "over for 40 s": slow(2 * HOUR, 2 * HOUR + 900, 4, length_s=2 * HOUR + 940),
    "over for 100 s": slow(2 * HOUR, 2 * HOUR + 900, 4, length_s=2 * HOUR + 1000),
    "over for 4 min": slow(2 * HOUR, 2 * HOUR + 900, 4, length_s=2 * HOUR + 1140),
    "over for 20 min": slow(2 * HOUR, 2 * HOUR + 900, 4, length_s=2 * HOUR + 2100),
    "first hour slow, goes on": slow(1500, 2400, 6),
    "first hour slow, over": slow(1200, 1800, 6, length_s=2700),
    "two ops, go on": Kind(agent(*_TWO), 2 * HOUR + 1200, (2 * HOUR, 2 * HOUR + 1200, 9), DELETE),
    "two ops, over": Kind(agent(*_TWO), 3 * HOUR + 1200, (2 * HOUR, 3 * HOUR, 9), DELETE),
    "two ops one after the other, go on": Kind(
        agent(*_STAGGERED), 2 * HOUR + 1800, (2 * HOUR + 600, 2 * HOUR + 1800, 9), DELETE
    ),
    "hung, goes on": Kind(agent(fault(CREATE, 2 * HOUR, 3 * HOUR, hang=True)), 2 * HOUR + 400),
    "hung, over": Kind(agent(fault(CREATE, 2 * HOUR, 2 * HOUR + 200, hang=True)), 2 * HOUR + 1200),
    "failing": Kind(agent(fault(STAT, 2 * HOUR, 3 * HOUR, error="EIO")), 2 * HOUR + 400),
    "failing for 12 s": Kind(agent(fault(STAT, 2 * HOUR, 3 * HOUR, error="EIO")), 2 * HOUR + 12),
    "all fail twice": Kind(
        agent(
            *(fault(op, HOUR, HOUR + 82, error="EIO") for op in OPS),
            *(fault(op, HOUR + 330, 2 * HOUR, error="EIO") for op in OPS),
        ),
        HOUR + 400,
    ),
    "slow, then all fail": Kind(
        agent(
            fault(STAT, 400, 430, multiply=3.0),
            *(fault(op, 446, HOUR, error="ENOTCONN") for op in OPS),
            period="200ms",
            window="5s",
        ),
        476,
        (400, 430, 3.0),
        STAT,
    ),
    "first minutes, all fail": Kind(
        agent(*(fault(op, 150, HOUR, error="ENOTCONN") for op in OPS), period="200ms", window="5s"),
        200,
    ),
    "two hosts, one slow": Kind(
        agents(("login1", [target("/work")]), ("login2", [target("/work", *_SLOW)])),
        2 * HOUR + 900,
        (2 * HOUR, 2 * HOUR + 900, 4),
    ),
    "two hosts, both slow": Kind(
        agents(("login2", [target("/work", *_SLOW)]), ("login1", [target("/work", *_SLOW)])),
        2 * HOUR + 900,
        (2 * HOUR, 2 * HOUR + 900, 4),
    ),
    "three hosts, one slow": Kind(
        agents(
            ("login1", [target("/work")]),
            ("login2", [target("/work", *_SLOW)]),
            ("login3", [target("/work")]),
        ),
        2 * HOUR + 900,
        (2 * HOUR, 2 * HOUR + 900, 4),
    ),
    "two targets, one slow": Kind(
        agents(("login2", [target("/home"), target("/work", *_SLOW)])),
        2 * HOUR + 900,
        (2 * HOUR, 2 * HOUR + 900, 4),
    ),
    "10 Hz, goes on": slow(70, 100, 15, period="100ms", window="2s"),
    "10 Hz, over": slow(35, 60, 15, length_s=90, period="100ms", window="2s"),
    "every 5 s, goes on": slow(3 * HOUR, 3 * HOUR + 1200, 6, period="5s"),
    "stopped while slow": Kind(
        agent(*_SLOW, runs=False), 2 * HOUR + 900, (2 * HOUR, 2 * HOUR + 900, 4)
    ),
    "killed while slow": Kind(
        agent(*_SLOW, after=_crashed), 2 * HOUR + 900, (2 * HOUR, 2 * HOUR + 900, 4)
    ),
    "unreadable state": Kind(
        agent(*_SLOW, after=_unreadable), 3 * HOUR + 900, (2 * HOUR, 3 * HOUR, 4)
    ),
    "damaged part": Kind(agent(*_SLOW, after=_damaged_part), 3 * HOUR + 900),
    "shipped copy, goes on": Kind(
        agent(*_SLOW, after=_shipped), 2 * HOUR + 900, (2 * HOUR, 2 * HOUR + 900, 4)
    ),
    "sealed, goes on": Kind(
        agent(*_SLOW, after=seal), 2 * HOUR + 900, (2 * HOUR, 2 * HOUR + 900, 4)
    ),
    "1 Hz without an agent": recorded(1, 4 * HOUR, 3 * HOUR, 3 * HOUR + 1200, 4.0, 10),
    "a second, first hour": recorded(1, HOUR, 1800, 2400, 8.0, 10),
    "every 15 s": recorded(15, 2 * DAY, DAY, DAY + 2 * HOUR, 10.0, 20),
    "one a minute": recorded(60, 3 * DAY, 2 * DAY, 2 * DAY + 12 * HOUR, 10.0, 120),
    "every 5 min": recorded(300, 6 * DAY, 4 * DAY, 4 * DAY + 12 * HOUR, 10.0, 600),
    "hourly": recorded(HOUR, 24 * DAY, 19 * DAY, 22 * DAY, 10.0, 2 * HOUR),
    "every 8 h": Kind(records(period_s=8 * HOUR), 30 * DAY, reason="long_step"),
    "a cache that stops": Kind(
        records(
            Trouble(READ, 60 * HOUR, 60 * HOUR + 1200, 50.0, hits=True), period_s=1, cached=0.5
        ),
        62 * HOUR,
    ),
    "a cache that stops, goes on": Kind(
        records(
            Trouble(READ, 60 * HOUR, 60 * HOUR + 1200, 50.0, hits=True), period_s=1, cached=0.5
        ),
        60 * HOUR + 600,
    ),
    "75 s": Kind(records(), 75, reason="learning"),
    "a gap": Kind(records(silent=[(HOUR, 5 * HOUR)]), 6 * HOUR, reason="no_probe"),
    "partly slow": Kind(
        records(Trouble(CREATE, 2 * HOUR, 2 * HOUR + 2400, 30.0, share=0.2)), 3 * HOUR
    ),
    "lost": Kind(
        records(Trouble(CREATE, 2 * HOUR, 2 * HOUR + 1200, float("inf"), share=0.4)), 3 * HOUR
    ),
    "losses beside a slow op": Kind(
        records(*_BESIDE), 4 * HOUR, (3 * HOUR + 430, 3 * HOUR + 1200, 400.0)
    ),
    "host busy": Kind(records(Trouble(READ, 2 * HOUR, 2 * HOUR + 1200, 4.0, queued=1.0)), 3 * HOUR),
    "a processor that wakes": Kind(
        records(Trouble(READ, 2 * HOUR, 2 * HOUR + 1200, 2.3), noise=_of_memory), 3 * HOUR
    ),
    "a processor that wakes, goes on": Kind(
        agents(
            ("login2", [target("/work", _WOKEN, latency=LATENCY | {READ: "13us"})]),
        ),
        2 * HOUR + 900,
    ),
    "heavy tails": recorded(1, 2 * HOUR, 5000, 5900, 8.0, 60, noise=_heavy),
    "two modes": recorded(1, 2 * HOUR, 5000, 5900, 8.0, 60, noise=_bimodal),
    "autocorrelated": recorded(1, 2 * HOUR, 5000, 5900, 8.0, 60, noise=_correlated),
}
"""At least forty; more are welcome."""
assert len(KINDS) >= 40
