"""Short spans in which operations of a run waited: ``iosonde bursts``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.left_out import with_left_out
from iosonde.model.answer import TableBlock
from iosonde.model.ops import op_word
from iosonde.model.units import (
    DAY_NS,
    format_count,
    format_duration,
    format_factor,
    format_option,
    format_time,
)

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.model.frames import Frame
    from iosonde.weather.bursts.bursts import RunBurst, RunBursts
    from iosonde.weather.samples.periods import Part

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

_SCHEMA_VERSION = 1
_HEAD = (
    *("began", "into the run", "lasted", "found in", "ranks", "lost", "took long", "of"),
    *("mean", "q95", "q99", "median"),
)


class Bursts(NamedTuple):
    """Bursts of every run asked about."""

    runs: list[RunBursts]
    root: Path
    now_ns: int

    def shown(self) -> list[Block]:
        """A summary a run, a table of its bursts."""
        from iosonde.weather.bursts.words import say_bursts, say_limit

        blocks: list[Block] = []
        for run in self.runs:
            blocks += [""] * bool(blocks) + [f"run {run.run_id}: {say_bursts(run)}"]
            if run.too_few:
                words = ", ".join(map(op_word, run.too_few))
                blocks.append(f"{words}: too few operations to look for bursts")
            blocks.append(say_limit(run))
            if run.bursts:
                window = format_option(min(burst.window_ns for burst in run.bursts))
                blocks += [
                    f"factors are those of the slowest {window} of any operation; a median in brackets would not",
                    "have been called slow: below 2x, or too few operations to be sure of 1.5x",
                    "",
                    TableBlock(_HEAD, [_row(run, burst, self.now_ns) for burst in run.bursts], 4),
                ]
        return blocks

    def data(self) -> dict[str, Any]:
        """Every run with its bursts."""
        from iosonde.weather.bursts.words import say_bursts, say_limit

        runs = [
            {
                "run_id": run.run_id,
                "target": run.target,
                "first_ns": run.first_ns,
                "last_ns": run.last_ns,
                "n": run.n,
                "ops": list(run.ops),
                "too_few": list(run.too_few),
                "ranks": run.ranks,
                "fewest_ranks": run.fewest_ranks,
                "sentence": say_bursts(run),
                "limit": say_limit(run),
                "bursts": [_plain(burst, self.now_ns) for burst in run.bursts],
            }
            for run in self.runs
        ]
        return with_left_out({"schema_version": _SCHEMA_VERSION, "runs": runs}, self.root)

    def table(self) -> Frame:
        """A row a burst."""
        import numpy as np

        from iosonde.model.frames import Frame

        rows = [(run, burst) for run in self.runs for burst in run.bursts]
        columns: dict[str, Any] = {
            "run_id": np.array([run.run_id for run, _ in rows], dtype=object),
            "target": np.array([run.target for run, _ in rows], dtype=object),
            "start_ns": np.array([b.start_ns for _, b in rows], dtype=np.int64),
            "end_ns": np.array([b.end_ns for _, b in rows], dtype=np.int64),
            "n": np.array([b.n for _, b in rows], dtype=np.int64),
            "share": np.array([b.share for _, b in rows], dtype=np.float64),
            "ranks": np.array([b.ranks for _, b in rows], dtype=np.int64),
            "lost_ns": np.array([b.lost_ns for _, b in rows], dtype=np.float64),
            "median_sees": np.array([b.median_sees for _, b in rows], dtype=np.bool_),
        }
        for name in ("mean", "q50", "q95", "q99"):
            columns[name] = np.array([b.peak(name) for _, b in rows], dtype=np.float64)
        return Frame(columns)


def bursts(
    root: Path,
    name: str | None,
    span_ns: Span,
    now_ns: int,
    *,
    ops: tuple[str, ...] | None = None,
    window_ns: int | None = None,
) -> Bursts:
    """Bursts of every run of a target, run, host or period as people write it.

    ``name``: also how several run ids begin; None: all of the span, of the last day where it is open on both ends.
    Raises UsageError (``name`` is none), NothingMeasuredError, StoreError.
    """
    from iosonde.weather.bursts.bursts import bursts as bursts_of
    from iosonde.weather.store import Store

    store = Store(root)
    parts = [replace(part, ops=ops) for part in _parts(root, name, span_ns, now_ns)]
    found = [run for part in parts for run in bursts_of(store, part, window_ns)]
    return Bursts(found, root, now_ns)


def _parts(root: Path, name: str | None, span_ns: Span, now_ns: int) -> list[Part]:
    from iosonde.weather.samples.periods import Part
    from iosonde.weather.stored.selectors import select_all, stored_names

    known = stored_names(root)
    since, until = span_ns
    if name is None:
        begin = now_ns - DAY_NS if since is None and until is None else since
        return [Part(since_ns=begin, until_ns=until)]
    parts = select_all(name, known, now_ns)
    if parts[0].since_ns is None:
        return [replace(part, since_ns=since, until_ns=until) for part in parts]
    return parts


def _row(run: RunBursts, burst: RunBurst, now_ns: int) -> tuple[str, ...]:
    from iosonde.weather.bursts.words import say_who

    median = format_factor(burst.peak("q50")) + "x"
    return (
        format_time(burst.start_ns, now_ns, seconds=True),
        format_duration(burst.start_ns - run.first_ns),
        format_duration(burst.end_ns - burst.start_ns),
        say_who(burst),
        f"{burst.ranks} of {burst.of_ranks}",
        format_duration(round(burst.lost_ns)),
        f"{burst.share:.1%}",
        format_count(burst.n),
        *(f"{format_factor(burst.peak(name))}x" for name in ("mean", "q95", "q99")),
        median if burst.median_sees else f"({median})",
    )


def _plain(burst: RunBurst, now_ns: int) -> dict[str, Any]:
    from iosonde.weather.bursts.words import say_burst

    return {
        "start_ns": burst.start_ns,
        "end_ns": burst.end_ns,
        "window_ns": burst.window_ns,
        "seen_by": list(burst.seen_by),
        "median_sees": burst.median_sees,
        "chance": burst.chance,
        "n": burst.n,
        "share": burst.share,
        "ranks": burst.ranks,
        "lost_ns": burst.lost_ns,
        "ops": [vars(op) for op in burst.ops],
        "sentence": say_burst(burst, now_ns),
    }
