"""Series of servers: their names, and one of them as a block of numbers over time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.environment.answers import SeriesName, block, series
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.metrics import MetricBlock
from iosonde.notebook.arguments import span
from iosonde.notebook.columns import instants, of_records, pandas
from iosonde.notebook.display import MOST_COLUMNS, Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from iosonde.notebook.arguments import Instant
    from iosonde.notebook.columns import Columns

    Floats = NDArray[np.float64]


class Names(Answer):
    """The series of a store, sorted; a sequence of ``SeriesName`` (source, system, level, metric)."""

    data: list[SeriesName]

    def __init__(self, data: list[SeriesName]) -> None:
        self.data = data

    @property
    def columns(self) -> Columns:
        """A row per series."""
        return of_records([name._asdict() for name in self.data], SeriesName._fields)

    def __iter__(self) -> Iterator[SeriesName]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> SeriesName:
        return self.data[place]


class Block(Answer):
    """Block of a metric: several components over time. ``data``: the ``MetricBlock``.

    ``values`` float64 (T, N): missing is NaN, and only that. A delta is the amount of its step, never a rate and never
    a counter; a gauge is a state.
    """

    data: MetricBlock

    def __init__(self, data: MetricBlock) -> None:
        self.data = data
        about = f"{data.source} {data.system} {data.level} {data.metric}".split()
        missing = int(np.isnan(data.value).sum())
        flags = sorted({note.flag for note in data.notes})
        unit = f"{data.unit}, " if data.unit else ""
        self.lines = (
            f"{' '.join(about)} ({unit}{data.kind}): {len(data.time_ns)} steps x "
            f"{len(data.components)}, {missing} missing" + "".join(f", {flag}" for flag in flags),
        )

    @property
    def components(self) -> tuple[str, ...]:
        """Names (N,)."""
        return self.data.components

    @property
    def times(self) -> NDArray[np.datetime64]:
        """Left edges of the steps (T,), or instants of a gauge; UTC."""
        return instants(self.data.time_ns)

    @property
    def values(self) -> Floats:
        """(T, N), in ``data.unit``."""
        return self.data.value

    @property
    def rates(self) -> Floats:
        """(T, N), in ``data.unit`` per second. Raises UsageError: a gauge has none."""
        block = self.data
        if block.kind != "delta":
            raise UsageError(f"{block.metric} is a gauge: it has no rate", hint=".values")
        seconds = np.where(block.step_ns > 0, block.step_ns, np.nan) / 1e9
        return np.asarray(block.value / seconds[:, None], dtype=np.float64)

    @property
    def columns(self) -> Columns:
        """A row per step and component, steps first: ``start``, ``step_ns``, ``component``, ``value``."""
        width = len(self.components)
        names = np.array(self.components, dtype=object)
        return {
            "start": np.repeat(self.times, width),
            "step_ns": np.repeat(self.data.step_ns, width),
            "component": np.tile(names, len(self.times)),
            "value": self.values.ravel(),
        }

    def to_pandas(self, *, rates: bool = False) -> DataFrame:
        """A row per step (index ``start``, UTC), a column per component. Raises MissingPartError, UsageError
        (rates).
        """
        pd = pandas()
        index = pd.DatetimeIndex(pd.to_datetime(self.times, utc=True), name="start")
        values = self.rates if rates else self.values
        return pd.DataFrame(values, index=index, columns=list(self.components))

    def _shown(self) -> Columns:
        some = enumerate(self.components[: MOST_COLUMNS - 1])
        return {"start": self.times, **{f" {name}": self.values[:, at] for at, name in some}}


def named(root: Path, asked: str | Sequence[str]) -> SeriesName:
    """Series that matches all words. Raises UsageError: none or several; NothingMeasuredError: no series."""
    if isinstance(asked, SeriesName):
        return asked
    asked = asked if isinstance(asked, str) else " ".join(asked)
    known = series(root)
    if not known:
        raise NothingMeasuredError(
            f"there are no series in {root}", expected="an import before", hint=".import_files()"
        )
    words = set(asked.split())
    found = [name for name in known if words <= set(" ".join(name).split())]
    if len(found) == 1:
        return found[0]
    if found:
        some = "; ".join(" ".join(name) for name in found[:6]) + "; ..." * (len(found) > 6)
        raise UsageError(f"{asked!r} matches {len(found)} series", expected=f"one of {some}")
    every = sorted({word for name in known for word in " ".join(name).split()})
    unknown = sorted(words - set(every))
    near = [match for word in unknown for match in difflib.get_close_matches(word, every, n=2)]
    raise UsageError(
        f"there is no series {asked!r}",
        expected="words of one of .series()",
        hint=", ".join(near),
    )


def read(root: Path, asked: str | Sequence[str], begin: Instant, end: Instant) -> Block:
    """Everything of a series that overlaps [begin, end). Raises as ``named``; NothingMeasuredError: nothing then."""
    return Block(block(root, named(root, asked), *span(begin, end)))
