"""Entry points for doors: the page of a run, a list of runs, a comparison of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from iosonde import __version__
from iosonde.bench.recorder import PlanOutcome
from iosonde.bench.report.compared import ComparedRuns, compared_runs
from iosonde.bench.runs.compare import COMPARED_OPS, RunSummary, compare
from iosonde.bench.runs.rows import SCHEMA_VERSION, frame_of
from iosonde.bench.runs.store import WhichRuns, read, read_runs
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.json_types import Instant, JsonObject
from iosonde.model.runs import RunRow
from iosonde.model.text import clean_text
from iosonde.model.units import format_time

if TYPE_CHECKING:
    from iosonde.bench.adaptive.adaptive import AdaptiveResult
    from iosonde.bench.report.content import RunPage
    from iosonde.drawing.sheet import Sheet
    from iosonde.model.answer import Block, PageFormat
    from iosonde.model.frames import Frame

__all__ = [
    "COMPARED_OPS",
    "ORDERS",
    "ComparedRuns",
    "ListedRun",
    "Part",
    "PlanOutcome",
    "RunSummary",
    "RunsAnswer",
    "compared_runs",
    "listed_runs",
    "run_page",
    "run_report",
    "runs_of",
    "verdicts",
    "waiting_picture",
    "waits",
]
Part = Literal["run", "factors", "runs"]

if TYPE_CHECKING:
    Judged = tuple[Sequence[RunRow], AdaptiveResult]
    """Rows of a run, and who is the limit."""


def _up(value: float | None) -> tuple[bool, float]:
    """What is missing comes last."""
    return value is None, value or 0.0


def _down(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)


ORDERS: dict[str, Callable[[RunSummary], Any]] = {
    "newest": lambda one: _down(one.first_ns),
    "oldest": lambda one: _up(one.first_ns),
    "name": lambda one: one.run_id,
    "target": lambda one: (one.target, _down(one.first_ns)),
    "creates": lambda one: _down(one.creates_per_s),
    "max": lambda one: _down(one.max_ns),
}
"""How runs are listed."""


class RunsAnswer(NamedTuple):
    """Runs with their rows. ``parts``: shown of them: one run in detail, every waiting factor, or a line a run.

    ``order``: of a list (None: as they were measured); ``verdicts``: who is the limit; ``root``: the store.
    """

    rows: Sequence[RunRow]
    now_ns: int | None = None
    parts: Sequence[Part] = ("runs",)
    every_factor: bool = False
    verdicts: Sequence[AdaptiveResult] = ()
    root: Path | None = None
    ranks: bool = False
    order: str | None = None

    def summaries(self, *, every_factor: bool | None = None) -> list[RunSummary]:
        """A line a run, or a line a waiting factor of a run."""
        each = self.every_factor if every_factor is None else every_factor
        found = compare(self.rows, every_factor=each)
        return found if self.order is None else sorted(found, key=ORDERS[self.order])

    def shown(self) -> list[Block]:
        """Tables, then verdicts."""
        from iosonde.bench.adaptive.text import verdict_blocks
        from iosonde.bench.report.details import details

        blocks: list[Block] = []
        now_ns = None if self.order is None else self.now_ns
        for part in self.parts:
            if part == "run":
                blocks += [*details(self.rows, self.now_ns, ranks=self.ranks)]
                blocks += [""] * (len(self.parts) > 1)
                continue
            each = part == "factors" or (self.every_factor and len(self.parts) == 1)
            blocks.append(partial(_compared, self.summaries(every_factor=each), now_ns))
        for one in self.verdicts:
            blocks += ["", *verdict_blocks(one)]
        return blocks

    def data(self) -> dict[str, Any]:
        """Comparison, rows, cautions, verdicts; what of the store was left out."""
        from iosonde.bench.adaptive.words import waiting_json
        from iosonde.bench.report.cautions import run_cautions
        from iosonde.engine.left_out import with_left_out

        rows = self.rows
        compared = [asdict(one) for one in compare(rows, every_factor=self.every_factor)]
        ids = dict.fromkeys(row.run_id for row in rows)
        found: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "runs": compared,
            "rows": [asdict(row) for row in rows],
            "cautions": {one: run_cautions([r for r in rows if r.run_id == one]) for one in ids},
        }
        if self.verdicts:
            found["verdicts"] = [waiting_json(one) for one in self.verdicts]
        return found if self.root is None else with_left_out(found, self.root)

    def table(self) -> Frame:
        """A row a phase, operation and rank, as the table ``runs`` of the store has it."""
        return frame_of(self.rows)


def _compared(found: Sequence[RunSummary], now_ns: int | None, page: PageFormat) -> str:
    from iosonde.bench.report.side_by_side import WIDE, comparison

    return comparison(found, now_ns, page.columns(WIDE))


def runs_of(root: Path, **which: Unpack[WhichRuns]) -> RunsAnswer:
    """The runs of a store. Raises StoreError."""
    return RunsAnswer(read(root, **which), root=root)


def waits(rows: Sequence[RunRow]) -> bool:
    """Whether a run has phases with several waiting factors."""
    return len({row.waiting_factor for row in rows if row.phase == "benchmark"}) > 1


def verdicts(each: Sequence[Sequence[RunRow]], note: Callable[[str], None]) -> list[Judged]:
    """Who is the limit, of every run that got far enough to tell; why not, of the others, goes to ``note``."""
    from iosonde.bench.adaptive.adaptive import adaptive

    found = []
    for rows in each:
        target = clean_text(rows[0].target)
        try:
            found.append((rows, adaptive(rows)))
        except NothingMeasuredError as error:
            hint = "a larger -I" if rows[0].source == "iosonde" else _of_other_tools(rows)
            note(f"{target}: {error.what}; try {hint}")
        except IosondeError as error:
            note(f"{target}: no verdict: {error}")
    return found


def waiting_picture(judged: Sequence[Judged]) -> Sheet:
    """Rates over waiting factors, with who is the limit."""
    from iosonde.bench.adaptive.sheet import waiting_sheet
    from iosonde.bench.adaptive.words import verdict_line

    return waiting_sheet(judged, [f"{one.target}: {verdict_line(one)}" for _, one in judged])


def _of_other_tools(rows: Sequence[RunRow]) -> str:
    if all(row.corrected_per_s is None for row in rows):
        return "the latency files of md-workbench -L: its text has no time in operations"
    return "the latency files of every waiting factor"


@dataclass(frozen=True)
class ListedRun(JsonObject):
    """A run of a list. ``headline``: its rates in words; ``finished``: it was written whole."""

    run: str
    kind: str
    target: str
    host: str
    source: str
    ranks: int | None
    began_ns: Instant
    finished: bool
    headline: str


def listed_runs(
    root: Path, target: str | None = None, since_ns: int | None = None, until_ns: int | None = None
) -> list[ListedRun]:
    """Runs of a target that started in a range, the newest first. Raises StoreError."""
    from iosonde.bench.report.words import headline

    found = read_runs(root, target=target, since_ns=since_ns, until_ns=until_ns)
    return [
        ListedRun(
            run.run_id,
            run.rows[0].instrument,
            run.rows[0].target,
            run.rows[0].host,
            run.rows[0].source,
            run.rows[0].ranks,
            run.first_ns,
            run.finished,
            headline(run.rows),
        )
        for run in reversed(found)
    ]


def run_page(
    root: Path,
    run_id: str,
    topology: Path | None,
    zone: tzinfo | None,
    warn: Callable[[str], None],
) -> RunPage:
    """Content of a run's page. Raises NothingMeasuredError, InputFileError, StoreError."""
    from iosonde.bench.report.content import run_page_content

    rows = read(root, run_id=run_id)
    if not rows:
        raise NothingMeasuredError(f"there is no run {run_id!r}", hint="'iosonde runs'")
    return run_page_content(root, rows, topology, zone, warn)


def run_report(
    root: Path,
    run_id: str,
    topology: Path | None,
    now: tuple[int, tzinfo | None],
    warn: Callable[[str], None],
) -> str:
    """The page as HTML. ``now``: instant (ns) and zone. Unreadable rows are reported to ``warn``.

    Raises NothingMeasuredError, InputFileError, StoreError, MissingPartError.
    """
    from iosonde.bench.report.html import render

    now_ns, zone = now
    content = run_page(root, run_id, topology, zone, warn)
    made = (
        f"made {format_time(now_ns, 0, zone)} by iosonde {__version__} from {Path(root).absolute()}"
    )
    return render(content, made)
