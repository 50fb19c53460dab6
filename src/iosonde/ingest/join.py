"""Jobs and servers put together after an import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from iosonde.ingest.writer import FileImport
from iosonde.jobs.environment.join import JoinCounts, join


def join_new(
    root: Path, done: Sequence[FileImport], progress: Callable[[int, int], None] | None = None
) -> JoinCounts:
    """``join`` after an import: jobs that are new, and those that ran while what is new was recorded."""
    keys = {key for one in done for key in one.keys}
    spans = [one.span_ns for one in done if one.span_ns is not None and (one.samples or one.edges)]
    span = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None
    return join(root, keys=keys, span_ns=span, progress=progress)
