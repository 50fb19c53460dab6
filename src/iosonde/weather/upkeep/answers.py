"""Upkeep of a store and of probed directories: ``iosonde store``.

``exit_code``: 0, or 1 where something is left undone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.left_out import with_left_out
from iosonde.model.answer import TableBlock
from iosonde.model.units import format_count, format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.weather.upkeep.clean import MarkedDirectory
    from iosonde.weather.upkeep.doubled import Checked, Doubled, Repaired

    Progress = Callable[[int, int], None]
    """Gets how much is done, and all."""


def seal(root: Path, note: Callable[[str], None] | None = None) -> list[Path]:
    """Turn the spool segments that no probe writes any more into Parquet; returns the new files.

    ``note``: torn segments, and each failure. Raises SealError after all others are sealed, StoreError.
    """
    from iosonde.weather.seal import seal as sealed

    return sealed(root, report=note)


class Done(NamedTuple):
    """Upkeep that was done. ``made``: a line per file or probe; ``told``: failures, then counts."""

    made: list[str]
    told: list[str]
    exit_code: int


def ship(
    root: Path, to: str, environ: Mapping[str, str], endpoint: str | None, progress: Progress
) -> Done:
    """Send states, and sealed files that are missing at ``to``. Raises StoreError, UsageError (the place refuses)."""
    from iosonde.host.boots import this_boot
    from iosonde.weather.slowdown.words import say_namesake
    from iosonde.weather.upkeep.ship import ship as shipped

    done = shipped(root, to, environ, endpoint=endpoint, progress=progress, boot=this_boot())
    size = format_size(done.sent_bytes)
    sent = f"{len(done.sent)} files sent to {to}, {size}; {done.there} were there"
    told = [*done.told, *map(say_namesake, done.namesakes)]
    return Done([], [*told, f"{sent}; {done.states} states replaced"], int(bool(done.told)))


def compact(root: Path, now_ns: int, grace_ns: int | None, progress: Progress) -> Done:
    """Merge the sealed files of a host's day. ``grace_ns``: age from which they replace their parts; None: 10 min.

    Raises StoreError.
    """
    from iosonde.weather.upkeep.compact import GRACE_NS
    from iosonde.weather.upkeep.compact import compact as compacted

    grace_ns = GRACE_NS if grace_ns is None else grace_ns
    done = compacted(root, now_ns, grace_ns=grace_ns, progress=progress)
    told = [
        *done.told,
        f"{done.merged} files merged into {len(done.made)}, {done.removed} merged files removed",
    ]
    if done.twice:
        told.append(f"{done.twice} rows stood twice in them, and count once now")
    return Done(list(map(str, done.made)), told, int(bool(done.told)))


def retain(
    root: Path, now_ns: int, samples_ns: int | None, rollups_ns: int | None, *, dry: bool
) -> Done:
    """Remove samples and roll-ups of days that ended longer ago; None: keep them. ``dry``: list them only.

    Raises StoreError.
    """
    from iosonde.weather.upkeep.retain import retain as retained

    stay: list[str] = []
    ages = {"samples_ns": samples_ns, "rollups_ns": rollups_ns}
    gone = retained(root, now_ns, **ages, dry=dry, tell=stay.append)
    size = format_size(sum(one.size_bytes for one in gone))
    counted = f"{len(gone)} old files {'would go' if dry else 'removed'}, {size}"
    return Done([str(one.path) for one in gone], [*stay, counted], int(bool(stay)))


def forget(root: Path, states: Sequence[dict[str, Any]], now_ns: int) -> Done:
    """Remove states and baselines of probes that have ended. Raises UsageError: one of them runs."""
    from iosonde.weather.forget import forget as forgotten

    files = forgotten(root, states, now_ns)
    made = [f"forgot {state['target']} of {state['host']}" for state in states]
    return Done(made, [], int(not files))


class DoubledRows(NamedTuple):
    """Rows that stand twice in a store, and their repair. ``left``: those that still do."""

    root: Path
    found: Checked
    left: Sequence[Doubled]
    repaired: Repaired | None = None

    @property
    def exit_code(self) -> int:
        """1: rows stand twice."""
        return 1 if self.left else 0

    def shown(self) -> list[Block]:
        """A table of days, counts."""
        found = self.found
        blocks: list[Block] = []
        if found.doubled:
            rows = [
                (
                    *(one.table, one.date, one.host),
                    *map(format_count, (one.files, one.rows, one.twice)),
                )
                for one in found.doubled
            ]
            blocks.append(TableBlock(("table", "date", "host", "files", "rows", "twice"), rows))
        twice, rolled = self._twice("samples"), self._twice("rollups")
        blocks.append(
            f"{format_count(found.files)} files, {format_count(found.rows)} rows of samples; "
            f"{format_count(twice)} rows count twice"
            + (f", and {format_count(rolled)} in roll-ups" if rolled else "")
        )
        if self.repaired is not None:
            blocks.append(
                f"{format_count(len(self.repaired.made))} files written, in which each row counts once; "
                "'iosonde store compact' removes what they replace"
            )
        return blocks

    def notes(self) -> list[str]:
        """Failures of a repair, or how to ask for one."""
        if self.repaired is not None:
            return self.repaired.told
        hint = "'iosonde store check --repair' makes each row count once"
        return [hint] if self.left else []

    def data(self) -> dict[str, Any]:
        """Counts, days with such rows, files that a repair wrote."""
        done = self.repaired
        document = {
            "files": self.found.files,
            "rows": self.found.rows,
            "doubled_rows": self._twice("samples"),
            "doubled_in_rollups": self._twice("rollups"),
            "doubled": [one._asdict() for one in self.found.doubled],
            "repaired": None
            if done is None
            else {"made": list(map(str, done.made)), "not_repaired": done.told},
        }
        return with_left_out(document, self.root)

    def _twice(self, of: str) -> int:
        return sum(one.twice for one in self.found.doubled if one.table == of)


def check(root: Path, progress: Progress) -> DoubledRows:
    """Count rows that stand twice. ``progress``: in days. Raises StoreError."""
    from iosonde.weather.upkeep.doubled import check as checked

    found = checked(root, progress)
    return DoubledRows(root, found, found.doubled)


def repair(rows: DoubledRows, bucket: str | None, environ: Mapping[str, str]) -> DoubledRows:
    """Make each row count once. ``bucket``: the store, of which ``root`` is a copy: it gets the files.

    Raises StoreError.
    """
    from iosonde.engine.remote.s3 import bucket_of
    from iosonde.weather.upkeep.doubled import check as checked
    from iosonde.weather.upkeep.doubled import repair as repaired

    root = rows.root
    done = repaired(root, rows.found.doubled)
    if bucket:  # roll-ups, then samples
        place = bucket_of(bucket, environ)
        for path in done.made:
            place.put(path.relative_to(root).as_posix(), path)
    left = checked(root).doubled
    still = [
        f"{format_count(one.twice)} rows of {one.table} of {one.host} on {one.date} still stand twice"
        for one in left
    ]
    return DoubledRows(root, rows.found, left, replace(done, told=[*done.told, *still]))


class CleanAnswer(NamedTuple):
    """Directories of iosonde's files in a directory. ``dry``: nothing was to be removed."""

    directory: str
    kept: list[MarkedDirectory]
    dry: bool

    @property
    def exit_code(self) -> int:
        """1: something stays."""
        return 0 if self.dry or all(one.removed for one in self.kept) else 1

    def shown(self) -> list[Block]:
        """A line a directory."""
        from iosonde.weather.upkeep.clean import say

        return list(map(say, self.kept))

    def notes(self) -> list[str]:
        """That there is nothing."""
        return [] if self.kept else [f"nothing of iosonde in {self.directory}"]

    def data(self) -> dict[str, Any]:
        """Every directory."""
        return {"schema_version": 1, "directories": [one._asdict() for one in self.kept]}


def clean(directory: str, *, dry: bool) -> CleanAnswer:
    """Remove files of probes and benchmarks that are not in use. ``dry``: only list them. Raises MeasureError."""
    from iosonde.weather.upkeep.clean import clean as cleaned
    from iosonde.weather.upkeep.clean import kept

    return CleanAnswer(directory, (kept if dry else cleaned)(directory), dry)
