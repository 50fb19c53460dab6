"""Slowdown over time: ``iosonde slowdown``, the page's series and panels, ``.slowdown()`` of notebooks."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.left_out import left_out

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.drawing.sheet import Sheet
    from iosonde.engine.reader import SampleFilter
    from iosonde.model.answer import Block
    from iosonde.model.frames import (
        Frame,
        LateSpan,
        LostSpan,
        SlowdownQuery,
        SlowdownResult,
        SlowSpan,
    )
    from iosonde.weather.samples.points import OpPoints
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

_MOST_TOLD = 20
_FACTORS = ("baseline_ns", "slowdown", "slowdown_lower", "slowdown_upper", "slow", "host_busy")
_FRAMES = ("unusual", "hit_share", "climate", "stage", "epoch")


class SlowdownAnswer(NamedTuple):
    """Windows, usual latencies and slow spans of a query; instants in ``zone`` (None: the system's)."""

    store: Store
    result: SlowdownResult
    now_ns: int
    zone: tzinfo | None = None

    @property
    def is_empty(self) -> bool:
        """True without a window: there are no samples for the query."""
        return len(self.result.windows) == 0

    def shown(self) -> list[Block]:
        """A table a target, host and rate; slow stretches, losses and hangs below it."""
        from iosonde.weather.series.text import series_blocks

        return series_blocks(self.result, self.now_ns, self.zone)

    def sentences(self) -> list[str]:
        """The latest slow stretches and losses, lasting changes, and what was not judged."""
        from iosonde.weather.events.unjudged_words import say_not_judged
        from iosonde.weather.slowdown.findings import from_span
        from iosonde.weather.slowdown.words import say_all, say_change, say_lost

        result, now_ns, zone = self.result, self.now_ns, self.zone
        spans = sorted(result.spans, key=lambda one: one.start_ns)[-_MOST_TOLD:]
        return [
            *say_all([from_span(one, now_ns) for one in spans], zone),
            *(say_lost(one, now_ns, zone) for one in result.lost[-_MOST_TOLD:]),
            *(say_change(change, now_ns, zone) for change in result.changes),
            *say_not_judged(result.not_judged, now_ns, zone),
        ]

    def data(self) -> dict[str, Any]:
        """Slow spans, losses, hangs and intervals that were not judged, each with its sentence; no windows."""
        from iosonde.engine.contract import SCHEMA_VERSION
        from iosonde.weather.events.slow_words import say_slow_event
        from iosonde.weather.events.unjudged_words import say_unjudged
        from iosonde.weather.events.written import as_event
        from iosonde.weather.slowdown.findings import from_span
        from iosonde.weather.slowdown.words import say, say_late, say_lost

        result, at = self.result, (self.now_ns, self.zone)
        return {
            "schema_version": SCHEMA_VERSION,
            "spans": [
                _span_data(one, say(from_span(one, self.now_ns), self.zone)) for one in result.spans
            ],
            "lost": [_span_data(one, say_lost(one, *at)) for one in result.lost],
            "late": [_span_data(one, say_late(one, *at)) for one in result.late],
            "hung": [
                {"id": as_event(one).id, **asdict(one), "sentence": say_slow_event(one, *at)}
                for one in result.hung
            ],
            "not_judged": [
                asdict(one) | {"sentence": say_unjudged(one, *at)} for one in result.not_judged
            ],
            "left_out": left_out(self.store.root),
        }

    def json_text(self) -> str:
        """JSON of ``data`` with ``windows``, which the engine writes: they may be millions."""
        from iosonde.engine.files import write_frame

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "windows"
            write_frame(self.table(), path, "json")
            return f'{json.dumps(self.data())[:-1]}, "windows": {path.read_text().strip()}}}\n'

    def table(self) -> Frame:
        """A row a window: the statistic with its interval, and derived columns; durations are whole ns."""
        import numpy as np

        from iosonde.engine.contract import SERIES_KEY
        from iosonde.model.frames import NULL_NS, Frame
        from iosonde.model.slowdown import TRIPLE_COLUMNS
        from iosonde.weather.slowdown.slowdown import statistic_columns

        windows = self.result.windows
        statistic = [name for name in statistic_columns(self.result.query.statistic) if name]
        counts = ("start_ns", "window_ns", "n_due", "n_seen")
        names = (*SERIES_KEY, *counts, *statistic, *_FACTORS, *TRIPLE_COLUMNS, *_FRAMES)
        columns = {name: windows[name] for name in names}
        for name, column in columns.items():
            if name.endswith("_ns") and name != "mean_ns" and column.dtype.kind == "f":
                missing = np.isnan(column)
                whole = np.rint(np.where(missing, 0.0, column)).astype(np.int64)
                columns[name] = np.where(missing, NULL_NS, whole)
        return Frame(columns)

    def sheets(self, load: tuple[int, int] | None = None) -> list[Sheet]:
        """A figure per target, host and rate, with single operations behind the windows.

        ``load``: when a known load ran (ns); what is usual is then held at its value before it. Raises StoreError.
        """
        from iosonde.weather.samples_to_draw import scatter
        from iosonde.weather.slowdown.figure import slowdown_figure
        from iosonde.weather.slowdown.load_effect import held

        result = self.result if load is None else held(self.store, self.result, load[0])
        return slowdown_figure(result, scatter(self.store, result), load)


def _span_data(span: SlowSpan | LostSpan | LateSpan, sentence: str) -> dict[str, Any]:
    """A span with the fields of the state files, and its sentence."""
    flat = {**asdict(span), **span.key._asdict(), "sentence": sentence}
    renamed = {"lower": "slowdown_lower", "upper": "slowdown_upper"}
    return {renamed.get(name, name): value for name, value in flat.items() if name != "key"}


def slowdown(
    store: Store | Path, query: SlowdownQuery, now_ns: int, zone: tzinfo | None = None
) -> SlowdownAnswer:
    """Windows, usual latencies and slow spans of a store or of the folder of one.

    Spans are those of ``events``, whatever the range; of another baseline than the guarded one, and of windows shorter
    than a minute, those of these windows. Raises UsageError, StoreError.
    """
    from iosonde.weather.series.stretches import with_stretches
    from iosonde.weather.store import Store

    store = Store(store) if isinstance(store, Path) else store
    return SlowdownAnswer(store, with_stretches(store, query, now_ns), now_ns, zone)


def slow_spans(
    store: Store, query: SlowdownQuery, now_ns: int, known: LearntBaselines
) -> list[SlowSpan]:
    """Slow stretches of a query, those of ``events``. ``known``: what is usual. Raises StoreError."""
    from iosonde.weather.events.timeline import happened
    from iosonde.weather.series.stretches import stretches

    return stretches(happened(store, query, now_ns, known=known))


def operations(root: Path, scope: SampleFilter) -> dict[str, OpPoints]:
    """Operations of a range by op, one by one or counted on a grid where they are many. Raises StoreError."""
    from iosonde.weather.samples.points import read_points

    return read_points(root, scope)
