"""A load beside a probe, and the slowdown found without knowing of it: ``iosonde demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.answer import TableBlock
from iosonde.model.ops import op_word
from iosonde.model.units import format_duration, format_slowdown, to_datetime
from iosonde.weather.demo.load import Load

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.answer import Block
    from iosonde.weather.slowdown.load_effect import Effect

_LOADS = {"writer": 16, "create_delete": 1}
"""Kinds of load and their threads: they slow blocks and files of a fast disk clearly (5x, not 2x)."""
_CAUSES = {"storage": "storage", "host": "busy host", "none": "-", "unknown": "n/a"}


class LoadTimes(NamedTuple):
    """Actual start and end of the load, ns since the epoch. ``troubles``: why a part of it ended early."""

    began_ns: int
    ended_ns: int
    troubles: list[str]


class DemoLoad:
    """Loads on a directory that together are one. Raises MeasureError: it cannot be written."""

    def __init__(self, directory: Path) -> None:
        self._loads = [Load(directory, kind, threads) for kind, threads in _LOADS.items()]
        for load in self._loads:
            load.start()

    def stop(self) -> LoadTimes:
        """End the loads and remove their files."""
        reports = [load.stop() for load in self._loads]
        return LoadTimes(
            min(report.began_ns for report in reports),
            max(report.ended_ns for report in reports),
            [f"a load ended early: {report.error}" for report in reports if report.error],
        )


class Demonstration(NamedTuple):
    """Every operation during the load against its baseline before it."""

    effects: list[Effect]
    load: LoadTimes
    root: Path
    window_ns: int

    def shown(self) -> list[Block]:
        """The load, a table of operations, a conclusion."""
        from iosonde.weather.slowdown.words import conclude

        load = self.load
        length = format_duration(load.ended_ns - load.began_ns)
        head = (
            *("", "usual", "during load", "slowdown (95%)", "n"),
            *("slow since", "off by", "because of"),
        )
        return [
            "",
            f"The load began at {_clock(load.began_ns)} and ran for {length}.",
            "What the probe found, not knowing of it:",
            "",
            TableBlock(head, [_row(effect) for effect in self.effects]),
            "",
            conclude(self.effects),
        ]

    def pictures(self, now_ns: int) -> list[Sheet]:
        """Slowdown over time with the load, a sheet per target, host and rate. Raises StoreError."""
        from iosonde.model.frames import SlowdownQuery
        from iosonde.weather.series.answers import slowdown

        found = slowdown(self.root, SlowdownQuery(window_ns=self.window_ns), now_ns)
        return found.sheets((self.load.began_ns, self.load.ended_ns))


def demonstrate(root: Path, load: LoadTimes, window_ns: int) -> Demonstration:
    """What a probe's samples tell of a load that ran beside it. Raises StoreError."""
    from iosonde.weather.slowdown.load_effect import effects
    from iosonde.weather.store import Store

    found = effects(Store(root), load.began_ns, load.ended_ns, window_ns)
    return Demonstration(found, load, root, window_ns)


def _row(effect: Effect) -> tuple[str, ...]:
    return (
        op_word(effect.key.op),
        format_duration(effect.usual_ns),
        format_duration(effect.median_ns),
        format_slowdown(effect.slowdown, effect.lower, effect.upper),
        str(effect.n),
        "not slow" if effect.span is None else _clock(effect.span.start_ns),
        "" if effect.late_ns is None else f"{effect.late_ns / 1e9:+.1f} s",
        _CAUSES[effect.cause],
    )


def _clock(ns: int) -> str:
    return to_datetime(ns).strftime("%H:%M:%S.%f")[:-5]
