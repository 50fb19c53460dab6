"""Comparison of two sides of a store's samples: ``iosonde compare``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.left_out import with_left_out
from iosonde.model.answer import TableBlock
from iosonde.model.ops import op_word
from iosonde.model.units import format_count, format_duration, format_time
from iosonde.weather.compare.ratios import MARGIN, level_name, short_ratio

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.answer import Block
    from iosonde.model.frames import Frame
    from iosonde.weather.compare.compare import Compared
    from iosonde.weather.compare.words import OpComparison
    from iosonde.weather.samples.periods import Part

__all__ = ["MARGIN", "Comparison", "compare"]

_SCHEMA_VERSION = 1
_SHOWN = {0.5: "median", 0.95: "q95", 0.99: "q99"}


class Comparison(NamedTuple):
    """B as seen from A: both sides, and a verdict per operation. ``every_quantile``: people see all of them."""

    compared: Compared
    verdicts: list[OpComparison]
    margin: float
    root: Path
    now_ns: int
    every_quantile: bool = False

    def sentences(self) -> tuple[str, ...]:
        """A verdict an operation."""
        from iosonde.weather.compare.words import say_comparison

        return tuple(say_comparison(one, self.margin) for one in self.verdicts)

    def cautions(self) -> dict[str, list[str]]:
        """Cautions for the reader, each with its operations."""
        found: dict[str, list[str]] = {}
        for one in self.verdicts:
            for note in one.notes:
                found.setdefault(note, []).append(op_word(one.op))
        return found

    def shown(self) -> list[Block]:
        """Both sides, verdicts, a table of ratios, cautions."""
        a, b = self._sides()
        names = [name for level, name in _SHOWN.items() if level in self.compared.levels]
        head = ("", "B is", "geo. mean", *names, "median sees", "n of A", "n of B")
        ratios = TableBlock(head, [_row(one) for one in self.verdicts], 2)
        blocks: list[Block] = [f"A: {a}", f"B: {b}", "", *self.sentences(), "", ratios]
        if self.every_quantile:
            head = ("", "", "A", "B", "B / A", "sees", "p")
            blocks += ["", TableBlock(head, _quantiles(self.verdicts), 2)]
        for place, (note, ops) in enumerate(self.cautions().items()):
            about = "" if len(ops) == len(self.verdicts) else f"{', '.join(ops)}: "
            blocks += [""] * (not place) + [f"note: {about}{note}"]
        return blocks

    def notes(self) -> list[str]:
        """Operations that only one side has."""
        return [
            f"{', '.join(map(op_word, missing))}: no samples in {name}, left out"
            for name, missing in (("B", self.compared.only_a), ("A", self.compared.only_b))
            if missing
        ]

    def data(self) -> dict[str, Any]:
        """Both sides, and every operation with its quantiles."""
        ops = [
            one.to_json() | {"sentence": text}
            for one, text in zip(self.verdicts, self.sentences(), strict=True)
        ]
        plain = {
            "schema_version": _SCHEMA_VERSION,
            "at_ns": self.now_ns,
            "margin": self.margin,
            "a": vars(self.compared.a),
            "b": vars(self.compared.b),
            "ops": ops,
        }
        return with_left_out(plain, self.root)

    def records(self) -> list[dict[str, Any]]:
        """A record per operation and quantile: B / A with its 95% interval, and the smallest detectable ratio."""
        return [
            {"op": one.op, "verdict": one.verdict, **level._asdict()}
            | {"n_a": one.a.used, "n_b": one.b.used}
            for one in self.verdicts
            for level in one.levels
        ]

    def table(self) -> Frame:
        """``records`` as columns; NaN for a missing number."""
        import numpy as np

        from iosonde.model.frames import Frame

        def column(values: list[Any]) -> Any:
            if isinstance(values[0], str):
                return np.array(values, dtype=object)
            if None in values:
                return np.array([np.nan if value is None else value for value in values])
            return np.array(values)

        rows = self.records()
        return Frame({name: column([row[name] for row in rows]) for name in rows[0]})

    def picture(self, names: tuple[str, str] | None = None) -> Sheet:
        """Shifts of all quantiles. ``names``: of both sides (None: their periods in words)."""
        from iosonde.weather.compare.sheet import shifts_sheet

        verdicts = {one.op: one.verdict for one in self.verdicts}
        sides = names or self._sides()
        return shifts_sheet(self.compared, self.margin, verdicts, sides, self.sentences())

    def _sides(self) -> tuple[str, str]:
        return _words(self.compared.a, self.now_ns), _words(self.compared.b, self.now_ns)


def compare(
    root: Path,
    names: tuple[str, str],
    now_ns: int,
    *,
    target: str | None = None,
    host: str | None = None,
    span_ns: tuple[int | None, int | None] = (None, None),
    ops: tuple[str, ...] | None = None,
    margin: float = MARGIN,
    zone: tzinfo | None = None,
    every_quantile: bool = False,
) -> Comparison:
    """Compare B with A, both as people write them; ``target host span_ns``: what a side leaves open.

    Raises UsageError (a side that is none, or both the same), NothingMeasuredError, StoreError.
    """
    from iosonde.weather.compare.compare import compare as compare_sides
    from iosonde.weather.compare.words import judge
    from iosonde.weather.store import Store
    from iosonde.weather.stored.selectors import Defaults, select, sides, stored_names

    known = stored_names(root)
    defaults = Defaults(target, host, *span_ns)
    if target is not None:
        named = select(f"target:{target}", known, now_ns).target
        defaults = replace(defaults, target=named)
    a, b = (select(name, known, now_ns, zone) for name in names)
    found = compare_sides(Store(root), *sides(a, b, defaults, known), ops=ops)
    return Comparison(found, judge(found, margin), margin, root, now_ns, every_quantile)


def _words(part: Part, now_ns: int) -> str:
    texts = [part.target or "", f"run {part.run_id}" if part.run_id else ""]
    texts.append(f"as seen from {part.host}" if part.host else "")
    if part.since_ns is not None or part.until_ns is not None:
        since = "the first sample" if part.since_ns is None else format_time(part.since_ns, now_ns)
        until = "now" if part.until_ns is None else format_time(part.until_ns, now_ns)
        texts.append(f"from {since} to {until}")
    return ", ".join(text for text in texts if text)


def _row(op: OpComparison) -> tuple[str, ...]:
    from iosonde.weather.compare.words import say_ratio

    by_level = {level.level: level for level in op.levels}
    return (
        op_word(op.op),
        op.verdict,
        say_ratio(op.whole),
        *(say_ratio(by_level[level]) for level in _SHOWN if level in by_level),
        _detectable(by_level[0.5].smallest),
        format_count(op.a.used),
        format_count(op.b.used),
    )


def _quantiles(found: list[OpComparison]) -> list[tuple[str, ...]]:
    from iosonde.weather.compare.words import say_ratio

    return [
        (
            op_word(op.op),
            level_name(level.level),
            format_duration(level.quantile_a_ns),
            format_duration(level.quantile_b_ns),
            say_ratio(level),
            _detectable(level.smallest),
            "n/a" if level.p_value is None else f"{level.p_value:.2g}",
        )
        for op in found
        for level in op.levels
    ]


def _detectable(ratio: float | None) -> str:
    return "n/a" if ratio is None else f"x{short_ratio(ratio)}"
