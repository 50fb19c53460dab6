"""What doors call: the page of a run, runs as a list, two of them compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde import __version__
from iosonde.bench.report.compared import ComparedRuns, compared_runs
from iosonde.bench.runs.store import read, read_runs
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.json_types import Instant, JsonObject
from iosonde.model.units import format_time

if TYPE_CHECKING:
    from iosonde.bench.report.content import RunPage

__all__ = ["ComparedRuns", "ListedRun", "compared_runs", "listed_runs", "run_page", "run_report"]


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
    """Runs of a target that began in a range, the newest first. Raises StoreError."""
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
    """What a run's page shows. Raises NothingMeasuredError, InputFileError, StoreError."""
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
    """The page as HTML. ``now``: instant (ns) and zone. Rows that cannot be read go to ``warn``.

    Raises NothingMeasuredError, InputFileError, StoreError, MissingPartError.
    """
    from iosonde.bench.report.html import render

    now_ns, zone = now
    content = run_page(root, run_id, topology, zone, warn)
    made = (
        f"made {format_time(now_ns, 0, zone)} by iosonde {__version__} from {Path(root).absolute()}"
    )
    return render(content, made)
