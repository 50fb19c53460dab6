"""Hosts x targets: how slow each host sees each target, now or in an interval.

::

    now         the states of running probes: the slowdown of the finding, else that of the middle op
    interval    windows of an hour around it: the op that is slow in most windows, else the middle op

A cell is NaN where nobody can say: no probe, still learning, or the host's own processor was busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import Frame
from iosonde.weather.slowdown.findings import Finding

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

_STUCK = ("hung", "failing")
_MOSTLY = 0.5
"""From this share of windows on an op counts as slow, or as lost."""


@dataclass(frozen=True)
class FleetMatrix:
    """``slowdown``: (hosts, targets) ratio to what is usual, NaN unknown, infinite where operations hang or are lost.

    ``words``: (hosts, targets) what a cell is called where it is no number; "" elsewhere.
    """

    hosts: tuple[str, ...]
    targets: tuple[str, ...]
    slowdown: Floats
    words: tuple[tuple[str, ...], ...]


def of_findings(findings: Sequence[Finding]) -> FleetMatrix:
    """The matrix of what is known now."""
    cells: dict[tuple[str, str], tuple[float, str]] = {}
    for finding in findings:
        component = finding.evidence.get("component")
        name = f"{component['of']} {component['name']}" if component else finding.target
        cells[finding.host, name] = _cell(finding)
    return _matrix(cells)


def _cell(finding: Finding) -> tuple[float, str]:
    """A finding as a ratio and a word."""
    if finding.kind in _STUCK:
        return float("inf"), finding.kind
    if finding.kind == "lost":
        return float("inf"), "lost"
    if finding.kind == "slow" and finding.slowdown is not None:
        return finding.slowdown, ""
    if finding.kind == "usual":
        known = [op.slowdown for op in finding.ops if op.slowdown is not None]
        return (float(np.median(known)), "") if known else (float("nan"), "learning")
    return float("nan"), _UNKNOWN.get(finding.kind, "away")


_UNKNOWN = {"host_busy": "busy", "learning": "learning", "few": "few"}


def of_windows(windows: Frame) -> FleetMatrix:
    """The matrix of an interval, of windows with ``slowdown``, ``slow``, ``lost`` and ``host_busy``."""
    cells: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for (host, target, _), rows in _series(windows):
        typ = np.where(rows["host_busy"].astype(bool), np.nan, rows["slowdown"])
        known = typ[~np.isnan(typ)]
        lost = np.nan_to_num(np.asarray(rows["lost"], dtype=np.float64))
        share_lost = float(np.mean(lost >= _MOSTLY)) if len(lost) else 0.0
        slow = float(np.mean(rows["slow"].astype(bool)[~np.isnan(typ)])) if len(known) else 0.0
        middle = float(np.median(known)) if len(known) else float("nan")
        cells.setdefault((host, target), []).append((middle, slow, share_lost))
    return _matrix({place: _of_ops(ops) for place, ops in cells.items()})


def _of_ops(ops: Sequence[tuple[float, float, float]]) -> tuple[float, str]:
    if any(lost >= _MOSTLY for _, _, lost in ops):
        return float("inf"), "lost"
    slow = [middle for middle, share, _ in ops if share >= _MOSTLY]
    known = [middle for middle, _, _ in ops if not np.isnan(middle)]
    if slow or known:
        return (max(slow) if slow else float(np.median(known))), ""
    return float("nan"), "unknown"


def _series(windows: Frame) -> Iterable[tuple[tuple[str, str, str], Frame]]:
    """Windows by host, target and op."""
    if len(windows) == 0:
        return
    keys = [np.asarray(windows[name]).astype(str) for name in ("host", "target", "op")]
    order = np.lexsort(keys[::-1])
    sorted_keys = [key[order] for key in keys]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in sorted_keys], axis=0)
    edges = [*np.flatnonzero(new), len(order)]
    for begin, end in pairwise(edges):
        host, target, op = (str(key[begin]) for key in sorted_keys)
        yield (host, target, op), windows.take(order[begin:end])


def _matrix(cells: Mapping[tuple[str, str], tuple[float, str]]) -> FleetMatrix:
    """Hosts and targets with the slowest first."""
    worst: dict[int, dict[str, float]] = {0: {}, 1: {}}
    for place, (value, _) in cells.items():
        for axis in (0, 1):
            known = worst[axis].get(place[axis], 0.0)
            worst[axis][place[axis]] = known + (0.0 if np.isnan(value) else min(value, 20.0))
    hosts, targets = (
        tuple(sorted(worst[axis], key=lambda name: (-worst[axis][name], name))) for axis in (0, 1)
    )
    nothing: tuple[float, str] = (float("nan"), "")
    every: list[list[Any]] = [[cells.get((h, t), nothing) for t in targets] for h in hosts]
    slowdown = np.array([[value for value, _ in row] for row in every], dtype=np.float64)
    words = tuple(tuple(word for _, word in row) for row in every)
    return FleetMatrix(hosts, targets, slowdown.reshape(len(hosts), len(targets)), words)
