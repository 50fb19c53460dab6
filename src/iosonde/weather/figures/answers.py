"""Figures from a store's samples: ``iosonde figure``, ``/api/figure``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.weather.figures.request import (
    ABOVE_NS,
    KINDS,
    OF_RUNS,
    SPARSE,
    FigureRequest,
    RunSpan,
    default_range,
    runs_named,
    suited_window,
    suited_windows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.phases import Phase

__all__ = ["KINDS", "OF_RUNS", "SPARSE", "FigureRequest", "figure", "named_runs", "request"]


def named_runs(root: Path, words: Sequence[str]) -> RunSpan:
    """Runs with samples that have these ids, or ids that start so. Raises UsageError, StoreError."""
    from iosonde.weather.samples.periods import runs

    return runs_named(words, runs(root))


def request(
    kind: str,
    now_ns: int,
    span_ns: tuple[int | None, int | None],
    *,
    host: str | None = None,
    target: str | None = None,
    ops: Sequence[str] = (),
    window_ns: int | None = None,
    long_ns: int | None = None,
    statistic: str = "mean",
    phases: Sequence[Phase] = (),
    expected: str = "usual",
    runs: RunSpan | None = None,
    sparse: int | None = None,
    above_ns: int | None = None,
) -> FigureRequest:
    """Request with a range and windows that suit the kind, where they are not given.

    ``span_ns``: [since, until), None: that of ``runs``, of ``phases``, else the kind's; ``window_ns``: None: suited to
    the range; ``long_ns``: the longer windows of the slowdown figure, likewise; ``statistic``: of phases; ``runs``:
    None: all samples; ``sparse above_ns``: as ``FigureRequest``.
    """
    from iosonde.model.frames import SlowdownQuery

    since, until = span_ns
    if runs is not None:
        since = runs.since_ns if since is None else since
        until = runs.until_ns if until is None else until
    since, until = default_range(kind, since, until, now_ns, phases)
    short, long = suited_windows(until - since)
    query = SlowdownQuery(
        host=host,
        target=target,
        ops=tuple(ops) or None,
        since_ns=since,
        until_ns=until,
        window_ns=window_ns or suited_window(kind, until - since),
        statistic=statistic if kind == "phases" else "median",
        runs=None if runs is None else runs.run_ids,
    )
    return FigureRequest(
        kind,
        query,
        tuple(phases),
        expected,
        windows_ns=(short, long_ns or long),
        short_ns=window_ns,
        sparse=sparse,
        above_ns=ABOVE_NS if above_ns is None else above_ns,
        now_ns=now_ns,
    )


def figure(
    root: Path, asked: FigureRequest, now_ns: int, zone: tzinfo | None = None
) -> Sheet | None:
    """The figure, times of sentences in ``zone``; None without data. Raises StoreError, UsageError."""
    from iosonde.weather.bursts.words import say_runs
    from iosonde.weather.figures.sheets import sheet_of
    from iosonde.weather.store import Store

    return sheet_of(Store(root), asked, lambda runs: say_runs(runs, now_ns, zone))
