"""Decoder of the core's JSON about ranks to tallies: the only code with its keys (``ranks::lap`` and ``::gauge``)."""

from __future__ import annotations

import json
from typing import TypedDict

from iosonde.bench.runtime.histogram import Histogram
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import RankProgress


class _CoreOp(TypedDict):
    op: str
    ok: int
    sum_ns: int
    range_ns: tuple[int, int] | None
    bytes: int
    failed: list[tuple[str, int]]
    failed_ns: int
    buckets: list[tuple[int, int]]


class _CoreRank(TypedDict):
    rank: int
    began_ns: int
    duration_ns: int
    end: str
    steps: int
    of_steps: int
    waited_ns: int
    cpu_ns: int
    ops: list[_CoreOp]
    rows_left_out: int
    problems: list[tuple[str, str]]


class _CoreProgress(TypedDict):
    planned: int
    ended: int
    failed: int
    open: tuple[str, int] | None


def rank_tally(text: str) -> RankTally:
    """Tally of one rank in a phase."""
    core: _CoreRank = json.loads(text)
    return RankTally(
        rank=core["rank"],
        began_ns=core["began_ns"],
        duration_ns=core["duration_ns"],
        end=core["end"],
        steps=core["steps"],
        of_steps=core["of_steps"],
        waited_ns=core["waited_ns"],
        cpu_ns=core["cpu_ns"],
        ops=tuple(map(_op_tally, core["ops"])),
        rows_left_out=core["rows_left_out"],
        problems=tuple((outcome, text) for outcome, text in core["problems"]),
    )


def op_tallies(text: str) -> list[tuple[OpTally, ...] | None]:
    """Operations of each rank so far."""
    core: list[list[_CoreOp] | None] = json.loads(text)
    return [None if ops is None else tuple(map(_op_tally, ops)) for ops in core]


def progress(text: str) -> list[RankProgress]:
    """Progress of each rank."""
    core: list[_CoreProgress] = json.loads(text)
    return [
        RankProgress(one["ended"], one["planned"], one["failed"], *(one["open"] or ()))
        for one in core
    ]


def _op_tally(core: _CoreOp) -> OpTally:
    low, high = core["range_ns"] or (None, None)
    return OpTally(
        op=core["op"],
        ok=core["ok"],
        sum_ns=core["sum_ns"],
        min_ns=low,
        max_ns=high,
        bytes=core["bytes"],
        failed=dict(core["failed"]),
        failed_ns=core["failed_ns"],
        latencies=Histogram.of(core["buckets"]),
    )
