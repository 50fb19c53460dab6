"""Storing of imported runs: each once, and replaced by a longer version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iosonde.bench.runs import store as runs
from iosonde.ingest.report import RunImport
from iosonde.model.runs import RunRow


def keep_runs(root: Path, rows: Sequence[RunRow], now_ns: int) -> list[RunImport]:
    """Write every run among ``rows``. Raises StoreError.

    A run of an id that the store has is left out if it holds no more, and takes its place if it holds all of it
    and more. Otherwise two runs have one name, and the new one gets a digest behind it.
    """
    of_run: dict[str, list[RunRow]] = {}
    for row in rows:
        of_run.setdefault(row.run_id, []).append(row)
    return [_keep(root, run_id, its, now_ns) for run_id, its in of_run.items()]


def _keep(root: Path, run_id: str, rows: list[RunRow], now_ns: int) -> RunImport:
    digest = hashlib.sha256(repr(sorted(map(repr, map(_bare, rows)))).encode()).hexdigest()[:6]
    for name in (run_id, f"{run_id}-{digest}"):
        named = [replace(row, run_id=name) for row in rows]
        old = runs.read(root, run_id=name)
        if old and _holds(old, named):
            return RunImport(name, old[0].target, len(old), False)
        if not old or _holds(named, old):
            break
    runs.write(root, named, now_ns)
    return RunImport(name, rows[0].target, len(rows), True)


def _holds(more: Sequence[RunRow], less: Sequence[RunRow]) -> bool:
    """True if ``more`` includes everything of ``less``, of the same run."""
    by_key = {row.key: row for row in more}
    same = _same_files if _digests(less) else _same_row
    return all(row.key in by_key and same(by_key[row.key], row) for row in less)


def _same_row(one: RunRow, other: RunRow) -> bool:
    return _bare(one) == _bare(other)


def _same_files(one: RunRow, other: RunRow) -> bool:
    """True for statistics of the same files, of at least as many operations."""
    files = set(one.parameters.get("digests", ()))
    return files >= set(other.parameters["digests"]) and (one.ops or 0) >= (other.ops or 0)


def _digests(rows: Sequence[RunRow]) -> bool:
    return all("digests" in row.parameters for row in rows)


def _bare(row: RunRow) -> RunRow:
    """A row without values that the user supplied at import."""
    parameters = dict(row.parameters)
    parameters.pop("reported", None)
    return replace(
        row, run_id="", began_ns=None, target="", host="", parameters=parameters, complete=True
    )
