"""Sheet of a run: time of each file by rank, target and disk position, rates over time and by server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.findings import Fault
from iosonde.bench.locate.rates import rates_of, series
from iosonde.drawing.marks import Mark, NumberDots, NumberLine
from iosonde.drawing.sheet import BYTES_PER_S, SECONDS, Pane, Sheet, thousands
from iosonde.model.transfers import DIRECTIONS, WRITE

if TYPE_CHECKING:
    from iosonde.bench.locate.findings import Findings
    from iosonde.model.arrays import Flags, Floats, Ints
    from iosonde.model.transfers import Topology, Transfers

MOST_DOTS = 20_000
"""Files of a pane; more are left out evenly."""
SLOW = "of a slow component"


def locate_sheet(
    transfers: Transfers, topology: Topology, findings: Findings, say: Sequence[str] = ()
) -> Sheet:
    """Panes of the first repetition of the run. ``say``: sentences for the caption, which ``locate.words`` writes."""
    repetition = int(transfers.repetition.min())
    usable = np.flatnonzero(transfers.usable() & (transfers.repetition == repetition))
    step = -(-len(usable) // MOST_DOTS) or 1
    rows = usable[:: step if step % 2 or step == 1 else step + 1]
    note = (
        f"{thousands(len(rows))} of {thousands(len(usable))} transfers"
        if len(rows) < len(usable)
        else ""
    )
    target = _only_target(transfers)
    server, servers = topology.of("ost", transfers.targets)
    slow = _slow_rows(transfers, target, topology, findings)
    panes = [
        _files("by rank", "rank", transfers.rank.astype(np.float64), transfers, rows, slow, note)
    ]
    on_one = rows[target[rows] >= 0]
    order = _ranked(transfers.targets)
    if len(on_one):
        panes.append(
            _files(
                "by target",
                "target, in order of names",
                order[target].astype(np.float64),
                transfers,
                on_one,
                slow,
                note,
            )
        )
    if transfers.position is not None:
        placed = rows[np.isfinite(transfers.position[rows])]
        across = "disk position: 0 outer edge, 1 inner edge"
        panes.append(
            _files("by disk position", across, transfers.position, transfers, placed, slow, note)
        )
    if len(on_one):
        panes.append(_beside(transfers, usable[target[usable] >= 0], target, slow))
    panes.append(_over_time(transfers, repetition))
    if servers and len(on_one):
        every = usable[(target[usable] >= 0)]
        every = every[server[target[every]] >= 0]
        panes.append(_by_server(transfers, every, server[target], servers, slow))
    return Sheet(
        kind="locate",
        title="Time of each file, and rates over time",
        columns=("",),
        panes=tuple(panes),
        since_s=None,
        until_s=None,
        caption=(
            *say,
            f"repetition {repetition}; rates of servers: bytes of their files over the time of each, summed up",
        ),
    )


def _only_target(transfers: Transfers) -> Ints:
    """The target of each row on one, else -1."""
    one = transfers.stripes.counts() == 1
    out = np.full(len(transfers), -1, dtype=np.int64)
    out[one] = transfers.stripes.target[transfers.stripes.first[:-1][one]]
    return out


def _slow_rows(transfers: Transfers, target: Ints, topology: Topology, findings: Findings) -> Flags:
    """Rows of a component that was found slow, in its directions."""
    out = np.zeros(len(transfers), dtype=bool)
    server, servers = topology.of("ost", transfers.targets)
    of_server = np.where(target >= 0, server[target], -1)
    for one in findings.slow:
        ways = np.isin(
            transfers.direction, [DIRECTIONS.index(effect.direction) for effect in one.effects]
        )
        names = set(one.components)
        if one.level == "group":
            names = set(one.also)
        if one.fault is Fault.LINK:
            grouped, groups = topology.of("oss", servers)
            slow_group = [
                i for i, g in enumerate(grouped.tolist()) if g >= 0 and groups[g] in one.also
            ]
            out |= (transfers.direction == WRITE) & np.isin(of_server, slow_group)
        if one.level == "ost":
            out |= ways & np.isin(
                target, [i for i, name in enumerate(transfers.targets) if name in names]
            )
        elif one.level == "host":
            out |= ways & np.isin(
                transfers.host, [i for i, name in enumerate(transfers.hosts) if name in names]
            )
        elif one.span_s is None:
            out |= ways & np.isin(of_server, [i for i, name in enumerate(servers) if name in names])
    return out


def _ranked(names: Sequence[str]) -> Ints:
    """Place of each name in order; one more for -1."""
    out = np.zeros(len(names) + 1, dtype=np.int64)
    out[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    return out


def _files(
    name: str, across: str, x: Floats, transfers: Transfers, rows: Ints, slow: Flags, note: str
) -> Pane:
    seconds = transfers.seconds()
    marks = _dots(x, seconds, rows, transfers.direction, slow)
    return Pane(f"time of a file, {name}", "", SECONDS, marks, len(rows), note, across=across)


def _dots(x: Floats, value: Floats, rows: Ints, direction: Ints, slow: Flags) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    for way, word in enumerate(DIRECTIONS):
        some = rows[(direction[rows] == way) & ~slow[rows]]
        if len(some):
            marks.append(NumberDots(word, word, x[some], value[some]))
    some = rows[slow[rows]]
    if len(some):
        marks.append(NumberDots(SLOW, "slow", x[some], value[some]))
    return tuple(marks)


def _beside(transfers: Transfers, rows: Ints, target: Ints, slow: Flags) -> Pane:
    """Mean time of the files of each target: reads over writes."""
    count, seconds = len(transfers.targets), transfers.seconds()
    mean, odd = np.full((2, count), np.nan), np.zeros(count, dtype=bool)
    for way in range(2):
        mine = rows[transfers.direction[rows] == way]
        files = np.bincount(target[mine], minlength=count)
        known = files > 0
        mean[way, known] = np.bincount(target[mine], seconds[mine], count)[known] / files[known]
        odd |= np.bincount(target[mine], slow[mine].astype(np.float64), count) > 0.5 * np.maximum(
            files, 1
        )
    both = np.isfinite(mean).all(axis=0)
    marks = [
        NumberDots(name, role, mean[0, some], mean[1, some])
        for name, role, some in (("a target", "target", both & ~odd), (SLOW, "slow", both & odd))
        if some.any()
    ]
    return Pane(
        "reads beside writes",
        "",
        SECONDS,
        tuple(marks),
        int(both.sum()),
        "mean time of a target's files",
        across="seconds to write",
    )


def _over_time(transfers: Transfers, repetition: int) -> Pane:
    """Aggregate rate of each direction since its begin, with the mean rate until the last file ended."""
    marks: list[Mark] = []
    losses = []
    for phase in rates_of(transfers):
        if phase.repetition != repetition:
            continue
        begin, rate = series(transfers, repetition, DIRECTIONS.index(phase.direction))
        since = (begin - begin[0]) / 1e9
        marks.append(NumberLine(f"{phase.direction} rate", phase.direction, since, rate))
        mean = np.full(2, phase.last_finisher)
        ends = np.array([0.0, phase.last_end_s])
        marks.append(
            NumberLine(f"mean {phase.direction} rate", phase.direction, ends, mean, mean=True)
        )
        if np.isfinite(phase.tail_loss):
            losses.append(f"{phase.tail_loss:.0%} of {phase.direction}s")
    note = "tail costs " + ", ".join(losses) if losses else ""
    return Pane(
        "aggregate rate",
        "",
        BYTES_PER_S,
        tuple(marks),
        len(marks),
        note,
        across="seconds since the first transfer began",
    )


def _by_server(
    transfers: Transfers, rows: Ints, server: Ints, servers: tuple[str, ...], slow: Flags
) -> Pane:
    """Sum of the rates of a server's files."""
    rate = transfers.bytes / transfers.seconds()
    order = _ranked(servers).astype(np.float64)
    marks: list[Mark] = []
    odd = np.zeros((2, len(servers)), dtype=bool)
    for way in range(2):
        flagged = rows[(transfers.direction[rows] == way) & slow[rows]]
        files = np.bincount(server[rows[transfers.direction[rows] == way]], minlength=len(servers))
        odd[way] = np.bincount(server[flagged], minlength=len(servers)) > 0.5 * np.maximum(files, 1)
    found: list[tuple[Floats, Floats]] = []
    for way, word in enumerate(DIRECTIONS):
        some = rows[transfers.direction[rows] == way]
        if not len(some):
            continue
        total = np.bincount(server[some], rate[some], len(servers))
        good = (total > 0) & ~odd[way]
        marks.append(NumberDots(word, word, order[:-1][good], total[good]))
        found.append((order[:-1][odd[way] & (total > 0)], total[odd[way] & (total > 0)]))
    x, y = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if len(x):
        marks.append(NumberDots(SLOW, "slow", x, y))
    return Pane(
        "rate of a server",
        "",
        BYTES_PER_S,
        tuple(marks),
        len(servers),
        "",
        across="server, in order of names",
    )
