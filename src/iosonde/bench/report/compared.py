"""Two runs side by side: the verdict that ``iosonde compare RUN RUN`` prints, as sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.bandwidth.compare import compare_rates
from iosonde.bench.bandwidth.compare_words import HEAD, rate_cells, say_differences, say_rates
from iosonde.bench.runs.store import read
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.runs import RunRow
from iosonde.weather import answers
from iosonde.weather.compare.words import MARGIN, say_comparison
from iosonde.weather.selectors import Defaults
from iosonde.weather.store import Store


@dataclass(frozen=True)
class ComparedRuns:
    """B as seen from A. ``head``, ``rows``: a row a rate of two bandwidth runs. ``note``: how they differ."""

    say: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


def compared_runs(root: Path, names: tuple[str, str], now_ns: int) -> ComparedRuns:
    """The verdict. Raises UsageError (both the same, or of two kinds), NothingMeasuredError, StoreError."""
    a, b = (_rows(root, name) for name in names)
    if names[0] == names[1]:
        raise UsageError(f"both sides are {names[0]}", expected="two runs")
    kinds = {a[0].instrument, b[0].instrument}
    if len(kinds) > 1:
        raise UsageError(
            f"a {a[0].instrument} run and a {b[0].instrument} run", expected="one kind"
        )
    note = say_differences(a[0], b[0])
    if kinds == {"bandwidth"}:
        found = compare_rates(a, b, MARGIN)
        if not found:
            raise NothingMeasuredError("the two runs have no rate in common")
        return ComparedRuns(say_rates(found, MARGIN), HEAD, rate_cells(found), note)
    sides = _samples_of(names[0], a), _samples_of(names[1], b)
    try:
        _, ops = answers.compare(Store(root), sides, Defaults(), now_ns, margin=MARGIN)
    except UsageError as error:
        raise UsageError(
            f"the store has no samples of both runs: {error.what}",
            expected="single operations of both",
            hint="'iosonde bench metadata --samples' keeps them",
        ) from error
    return ComparedRuns([say_comparison(one, MARGIN) for one in ops], (), (), note)


def _samples_of(run_id: str, rows: Sequence[RunRow]) -> str:
    """What the samples of a run are called: each phase has its own, and ``benchmark`` says most."""
    return f"{run_id}-benchmark" if any(row.phase == "benchmark" for row in rows) else run_id


def _rows(root: Path, run_id: str) -> list[RunRow]:
    rows = read(root, run_id=run_id)
    if not rows:
        raise NothingMeasuredError(f"there is no run {run_id!r}", hint="'iosonde runs'")
    return rows
