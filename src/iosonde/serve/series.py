"""Answer of ``/api/series`` for one target: operations, windows, baseline and slowdown of each op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.engine.kept import Kept
from iosonde.engine.reader import SampleFilter
from iosonde.model.frames import Frame, SlowdownQuery, SlowSpan
from iosonde.model.ops import OPS
from iosonde.serve import wire
from iosonde.serve.history import History, HistoryKey
from iosonde.serve.params import SeriesRequest
from iosonde.serve.points import points_json
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.weather.series.answers import operations, slow_spans

if TYPE_CHECKING:
    from iosonde.weather.samples.points import OpPoints
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

_INTEGERS = ("start_ns", "n_due", "n_seen")
_DURATIONS = ("q50_ns", "q50_lower_ns", "q50_upper_ns", "q90_ns", "max_ns", "baseline_ns")
_RATIOS = ("slowdown", "slowdown_lower", "slowdown_upper")
_FLAGS = ("slow", "host_busy")


_FRESH_NS = 10 * 10**9
"""Time that spans are reused: a page asks every few seconds; a span starts or ends with a window."""
_PAST_NS = 600 * 10**9
"""Time that spans of the past are reused: they change only with late rows."""
_MOST_KEPT = 24
_FIELDS = {"slowdown": "slowdown", "lower": "slowdown_lower", "upper": "slowdown_upper"}


class _Found(NamedTuple):
    since_ns: int
    at_ns: int
    spans: Sequence[SlowSpan]


class _Wanted(NamedTuple):
    """Spans from ``since_ns`` on, as of ``seen_ns`` or later; queried from ``ask_ns`` on if none are cached."""

    since_ns: int
    seen_ns: int
    ask_ns: int


class SpanCache:
    """Cache of a store's slow spans, as in events.

    Those for views of the past are apart from those of the present: they go back far, and are kept for minutes.

    ``known`` gives what is usual of a host, a target. Safe to use from several threads.
    """

    def __init__(self, store: Store, known: Callable[[str, str, int], LearntBaselines]) -> None:
        self._store, self._known = store, known
        self._latest: Kept[tuple[str, str], _Found] = Kept(_MOST_KEPT)
        self._of_past: Kept[tuple[str, str], _Found] = Kept(_MOST_KEPT)

    def of(
        self, host: str, target: str, since_ns: int, until_ns: int | None, now_ns: int
    ) -> list[SlowSpan]:
        """Spans that reach into [since, until), each with its real start and end. Raises StoreError."""
        key = host, target
        if until_ns is not None and until_ns < now_ns - _FRESH_NS:
            # As long again before it: who goes back step by step asks once for two steps.
            older_ns = max(0, 2 * since_ns - until_ns)
            wanted = _Wanted(since_ns, until_ns, older_ns)
            found = self._kept_or_asked(self._of_past, _PAST_NS, key, wanted, now_ns)
        else:
            wanted = _Wanted(since_ns, 0, since_ns)
            found = self._kept_or_asked(self._latest, _FRESH_NS, key, wanted, now_ns)
        return [
            span
            for span in found.spans
            if span.end_ns > since_ns and (until_ns is None or span.start_ns < until_ns)
        ]

    def _kept_or_asked(
        self,
        cache: Kept[tuple[str, str], _Found],
        keep_ns: int,
        key: tuple[str, str],
        wanted: _Wanted,
        now_ns: int,
    ) -> _Found:
        kept = cache.peek(key)
        if (
            kept is not None
            and kept.since_ns <= wanted.since_ns
            and kept.at_ns >= wanted.seen_ns
            and 0 <= now_ns - kept.at_ns < keep_ns
        ):
            return kept
        query = SlowdownQuery(host=key[0], target=key[1], since_ns=wanted.ask_ns, until_ns=None)
        known = self._known(*key, now_ns)
        found = _Found(wanted.ask_ns, now_ns, slow_spans(self._store, query, now_ns, known))
        cache.put(key, found)
        return found


def stretches_json(spans: Sequence[SlowSpan], op: str) -> list[dict[str, Any]]:
    """Spans of one op."""
    return [
        {
            "start_ns": span.start_ns,
            "end_ns": span.end_ns,
            **{name: getattr(span, field) for field, name in _FIELDS.items()},
            "n": span.n,
            "ongoing": span.ongoing,
            "unknown_since_ns": span.unknown_since_ns,
        }
        for span in spans
        if span.key.op == op
    ]


class SeriesSource(NamedTuple):
    """Sources of an answer."""

    store: Store
    history: History
    kept: SpanCache
    paths: ShownPaths


def series_json(source: SeriesSource, asked: SeriesRequest, clock: Callable[[], int]) -> bytes:
    """The whole answer. ``as_of_ns``: the store was read after it; rows that arrive later may be missing.

    ``points false``: both ``points`` and ``cells`` are null and ``n_points`` is null. An unknown
    target is one without rows: its lists are empty. Raises StoreError.
    """
    store, history, kept, paths = source
    now_ns = history.prepared(clock)
    until_ns = now_ns if asked.until_ns is None else asked.until_ns
    key = HistoryKey(asked.host, asked.target, asked.window_ns)
    windows = history.windows(key, asked.since_ns, asked.until_ns, now_ns)
    slow = kept.of(asked.host, asked.target, asked.since_ns, asked.until_ns, now_ns)
    points: dict[str, OpPoints] | None = None
    if asked.points:
        # A row may be due a moment after now_ns: the range of "up to now" ends where the rows end.
        end = until_ns if asked.until_ns is not None else until_ns + 60 * 10**9
        points = operations(
            store.root, SampleFilter(asked.host, asked.target, None, asked.since_ns, end)
        )
    return wire.dumps(
        {
            "host": asked.host,
            "target": asked.target,
            "since_ns": asked.since_ns,
            "until_ns": until_ns,
            "window_ns": asked.window_ns,
            "as_of_ns": now_ns,
            "left_out": paths.left_out(),
            "ops": {op: _op_json(points, windows, slow, op) for op in OPS},
        }
    )


def _op_json(
    points: dict[str, OpPoints] | None, windows: Frame, slow: Sequence[SlowSpan], op: str
) -> dict[str, Any]:
    nothing = {"points": None, "cells": None, "n_points": None}
    return {
        **(nothing if points is None else points_json(points.get(op))),
        "stretches": stretches_json(slow, op),
        "windows": windows_json(one_row_a_window(windows.take(windows["op"] == op))),
    }


def windows_json(windows: Frame) -> dict[str, list[Any]]:
    """Windows as columns."""
    return {
        **{name: wire.integers(windows[name]) for name in (*_INTEGERS, *_DURATIONS)},
        **{name: wire.ratios(windows[name]) for name in _RATIOS},
        **{name: wire.flags(windows[name]) for name in _FLAGS},
    }


def one_row_a_window(windows: Frame) -> Frame:
    """Windows sorted by start, each once.

    Where a probe was started anew with another period, two series share a window: the one with more
    operations is shown.
    """
    start = windows["start_ns"]
    order = np.lexsort((-windows["n_due"], start))
    _, first = np.unique(start[order], return_index=True)
    return windows.take(order[first])
