"""One target's answer to ``/api/series``: operations, windows, baseline and slowdown of each op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from iosonde.engine.reader import SampleFilter
from iosonde.model.frames import Frame
from iosonde.model.ops import OPS
from iosonde.serve import wire
from iosonde.serve.access.paths import left_out_below
from iosonde.serve.history import History, HistoryKey
from iosonde.serve.params import SeriesRequest
from iosonde.serve.points import OpPoints, read_points
from iosonde.weather.store import Store

_INTEGERS = ("start_ns", "n_due", "n_seen")
_DURATIONS = ("q50_ns", "q50_lower_ns", "q50_upper_ns", "q90_ns", "max_ns", "baseline_ns")
_RATIOS = ("slowdown", "slowdown_lower", "slowdown_upper")
_FLAGS = ("slow", "host_busy")


def series_json(
    store: Store, history: History, asked: SeriesRequest, clock: Callable[[], int]
) -> bytes:
    """The whole answer. ``as_of_ns``: the store was read after it; rows seen later may be missing.

    ``points false``: both ``points`` and ``cells`` are null and ``n_points`` is null. An unknown
    target is one without rows: its lists are empty. Raises StoreError.
    """
    now_ns = history.prepared(clock)
    until_ns = now_ns if asked.until_ns is None else asked.until_ns
    key = HistoryKey(asked.host, asked.target, asked.window_ns)
    windows = history.windows(key, asked.since_ns, asked.until_ns, now_ns)
    points: dict[str, OpPoints] = {}
    if asked.points:
        # A row may be due a moment after now_ns: the range of "up to now" ends where the rows end.
        end = until_ns if asked.until_ns is not None else until_ns + 60 * 10**9
        points = read_points(
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
            "left_out": left_out_below(store.root),
            "ops": {op: _op_json(points.get(op), windows, op) for op in OPS},
        }
    )


def _op_json(points: OpPoints | None, windows: Frame, op: str) -> dict[str, Any]:
    return {
        "points": points.points if points else None,
        "cells": points.cells if points else None,
        "n_points": points.n if points else None,
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
    """Windows by start, each once.

    Where a probe was started anew with another period, two series share a window: the one with more
    operations is shown.
    """
    start = windows["start_ns"]
    order = np.lexsort((-windows["n_due"], start))
    _, first = np.unique(start[order], return_index=True)
    return windows.take(order[first])
