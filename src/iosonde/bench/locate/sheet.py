"""Sheet of a run: time of each file by rank, target and disk position, rates over time and by server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.findings import Fault
from iosonde.bench.locate.rates import rates_of, series
from iosonde.drawing.marks import Mark, NumberDots, NumberLine
from iosonde.drawing.sheet import BYTES_PER_S, SECONDS, Pane, Sheet
from iosonde.model.transfers import DIRECTIONS, WRITE
from iosonde.model.units import format_count

if TYPE_CHECKING:
    from iosonde.bench.locate.findings import ComponentFindings
    from iosonde.model.arrays import Flags, Floats, Ints
    from iosonde.model.transfers import Topology, Transfers

MOST_DOTS = 20_000
"""Most transfers of a pane; more are thinned out evenly."""
SLOW = "of a slow component"
_SERVERS = "rates of servers: bytes of their files over the time of each, summed up"


@dataclass(frozen=True)
class _Drawn:
    """Drawn repetition. ``rows``: its usable transfers. By row of the transfers: its only target and server, -1 none;
    ``slow``: True if it is of a slow component.
    """

    transfers: Transfers
    repetition: int
    rows: Ints
    target: Ints
    server: Ints
    servers: tuple[str, ...]
    slow: Flags

    def ways(self, rows: Ints) -> list[tuple[int, str, Ints]]:
        """Rows of each direction."""
        way = self.transfers.direction[rows]
        return [(k, word, rows[way == k]) for k, word in enumerate(DIRECTIONS) if (way == k).any()]


def locate_sheet(
    transfers: Transfers, topology: Topology, findings: ComponentFindings, say: Sequence[str] = ()
) -> Sheet:
    """Panes of the first repetition of the run. ``say``: sentences for the caption, from ``locate.words``."""
    drawn = _drawn(transfers, topology, findings)
    target = _places(transfers.targets)[drawn.target]
    across = [
        ("by rank", "rank", transfers.rank),
        ("by OST", "OST, in order of names", np.where(drawn.target < 0, np.nan, target)),
    ]
    if transfers.position is not None:
        edges = "disk position: 0 outer edge, 1 inner edge"
        across.append(("by disk position", edges, transfers.position))
    panes = [
        pane for name, axis, x in across if (pane := _times(drawn, name, axis, x.astype(float))).n
    ]
    if (drawn.target[drawn.rows] >= 0).any():
        panes.append(_beside(drawn))
    panes.append(_over_time(drawn))
    servers = (drawn.server[drawn.rows] >= 0).any()
    if servers:
        panes.append(_by_server(drawn))
    return Sheet(
        kind="locate",
        title="Time of each file, and rates over time",
        columns=("",),
        panes=tuple(panes),
        since_s=None,
        until_s=None,
        caption=(*say, f"repetition {drawn.repetition}" + (f"; {_SERVERS}" if servers else "")),
    )


def _drawn(transfers: Transfers, topology: Topology, findings: ComponentFindings) -> _Drawn:
    repetition = int(transfers.repetition.min())
    rows = np.flatnonzero(transfers.usable() & (transfers.repetition == repetition))
    one = transfers.stripes.counts() == 1
    target = np.full(len(transfers), -1, dtype=np.int64)
    target[one] = transfers.stripes.target[transfers.stripes.first[:-1][one]]
    of_target, servers = topology.of("ost", transfers.targets)
    server = np.append(of_target, -1)[target]
    parts = _Drawn(transfers, repetition, rows, target, server, servers, np.zeros(0, dtype=bool))
    slow = np.zeros(len(transfers), dtype=bool)
    for finding in findings.slow:
        ways = [DIRECTIONS.index(effect.direction) for effect in finding.effects]
        names = finding.also if finding.fault is Fault.ROUTER else finding.components
        if finding.span_s is None:
            level = "oss" if finding.fault is Fault.ROUTER else finding.level
            slow |= np.isin(transfers.direction, ways) & _named(parts, level, names)
        if finding.fault is Fault.LINK:
            group, groups = topology.of("oss", servers)
            inside = {
                s
                for s, g in zip(servers, group, strict=True)
                if g >= 0 and groups[g] in finding.also
            }
            slow |= (transfers.direction == WRITE) & _named(parts, "oss", inside)
    return _Drawn(transfers, repetition, rows, target, server, servers, slow)


def _named(drawn: _Drawn, level: str, names: Sequence[str] | set[str]) -> Flags:
    """Rows of the named targets, servers or hosts."""
    transfers = drawn.transfers
    number, every = {
        "ost": (drawn.target, transfers.targets),
        "oss": (drawn.server, drawn.servers),
        "host": (transfers.host, transfers.hosts),
    }[level]
    return np.isin(number, [place for place, name in enumerate(every) if name in names])


def _places(names: Sequence[str]) -> Ints:
    """Index of each name in sorted order; one more for -1."""
    out = np.zeros(len(names) + 1, dtype=np.int64)
    out[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    return out


def _times(drawn: _Drawn, name: str, across: str, x: Floats) -> Pane:
    rows = drawn.rows[np.isfinite(x[drawn.rows])]
    step = -(-len(rows) // MOST_DOTS) or 1
    shown = rows[:: step if step % 2 or step == 1 else step + 1]
    note = f"{format_count(len(shown))} of {format_count(len(rows))} transfers" if step > 1 else ""
    value = drawn.transfers.seconds()
    marks: list[Mark] = []
    for _, word, mine in drawn.ways(shown[~drawn.slow[shown]]):
        marks.append(NumberDots(word, word, x[mine], value[mine]))
    odd = shown[drawn.slow[shown]]
    if len(odd):
        marks.append(NumberDots(SLOW, "slow", x[odd], value[odd]))
    title = f"time of a file, {name}"
    return Pane(title, "", SECONDS, tuple(marks), len(rows), note, across=across)


def _beside(drawn: _Drawn) -> Pane:
    """Mean time of the files of each target: reads over writes."""
    count, seconds = len(drawn.transfers.targets), drawn.transfers.seconds()
    mean, odd = np.full((2, count), np.nan), np.zeros(count, dtype=bool)
    for way, _, mine in drawn.ways(drawn.rows[drawn.target[drawn.rows] >= 0]):
        files, slow = _of(drawn, drawn.target, mine, count)
        known = files > 0
        mean[way, known] = (
            np.bincount(drawn.target[mine], seconds[mine], count)[known] / files[known]
        )
        odd |= slow
    both = np.isfinite(mean).all(axis=0)
    kinds = (("an OST", "target", both & ~odd), (SLOW, "slow", both & odd))
    marks = [
        NumberDots(name, role, mean[0, some], mean[1, some])
        for name, role, some in kinds
        if some.any()
    ]
    note = "mean time of an OST's files"
    n = int(both.sum())
    title, across = "reads beside writes", "seconds to write"
    return Pane(
        title, "", SECONDS, tuple(marks), n, note, empty="writes only, or reads only", across=across
    )


def _of(drawn: _Drawn, number: Ints, rows: Ints, count: int) -> tuple[Ints, Flags]:
    """Number of files of each component, and True if most of them are slow."""
    files = np.bincount(number[rows], minlength=count)
    slow = np.bincount(number[rows], drawn.slow[rows], count)
    return files, slow > 0.5 * np.maximum(files, 1)


def _over_time(drawn: _Drawn) -> Pane:
    """Aggregate rate of each direction since its start, with the mean rate until the last file ended."""
    marks: list[Mark] = []
    losses = []
    for phase in rates_of(drawn.transfers):
        if phase.repetition != drawn.repetition:
            continue
        word = phase.direction
        begin, rate = series(drawn.transfers, drawn.repetition, DIRECTIONS.index(word))
        marks.append(NumberLine(f"{word} rate", word, (begin - begin[0]) / 1e9, rate))
        ends, mean = np.array([0.0, phase.last_end_s]), np.full(2, phase.last_finisher)
        marks.append(NumberLine(f"mean {word} rate", word, ends, mean, mean=True))
        if np.isfinite(phase.tail_loss):
            losses.append(f"{phase.tail_loss:.0%} of {word}s")
    note = "tail costs " + ", ".join(losses) if losses else ""
    across = "seconds since the first transfer began"
    return Pane("aggregate rate", "", BYTES_PER_S, tuple(marks), len(marks), note, across=across)


def _by_server(drawn: _Drawn) -> Pane:
    """Sum of the rates of a server's files."""
    rate = drawn.transfers.bytes / drawn.transfers.seconds()
    count, place = len(drawn.servers), _places(drawn.servers)[:-1].astype(np.float64)
    marks: list[Mark] = []
    odd: list[tuple[Floats, Floats]] = []
    for _, word, mine in drawn.ways(drawn.rows[drawn.server[drawn.rows] >= 0]):
        total: Floats = np.bincount(drawn.server[mine], rate[mine], count).astype(np.float64)
        files, slow = _of(drawn, drawn.server, mine, count)
        good = (files > 0) & ~slow
        marks.append(NumberDots(word, word, place[good], total[good]))
        odd.append((place[slow], total[slow]))
    x, y = (np.concatenate(parts) for parts in zip(*odd, strict=True))
    if len(x):
        marks.append(NumberDots(SLOW, "slow", x, y))
    across = "server, in order of names"
    return Pane("rate of a server", "", BYTES_PER_S, tuple(marks), count, across=across)
