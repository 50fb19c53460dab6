"""What doors call: the page of a run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path

from iosonde import __version__
from iosonde.bench.runs.store import read
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.units import format_time


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
    from iosonde.bench.report.content import run_page_content
    from iosonde.bench.report.html import render

    rows = read(root, run_id=run_id)
    if not rows:
        raise NothingMeasuredError(f"there is no run {run_id!r} in {root}", hint="'iosonde runs'")
    now_ns, zone = now
    content = run_page_content(root, rows, topology, zone, warn)
    made = (
        f"made {format_time(now_ns, 0, zone)} by iosonde {__version__} from {Path(root).absolute()}"
    )
    return render(content, made)
