"""Makes stores as an earlier version left them: rows of a day that stand twice in its merged files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from iosonde.engine import reader
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.merged import merged_stem
from iosonde.engine.layout.segments import every_sealed, segment_stems
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.weather.rollups import derive
from iosonde.weather.rollups.files import write
from iosonde.weather.upkeep.day import count


def earlier_merge(root: Path, parts: Sequence[Path], names: Sequence[str]) -> Path:
    """A file and its roll-up as an earlier version merged them: ``UNION ALL`` of its parts, names as they were told."""
    path = parts[0].with_name(f"{merged_stem(names)}.parquet")
    rolled = root / "rollups" / path.relative_to(root / "samples")
    with closing(connect()) as con:
        write_parquet(
            con, f"SELECT {', '.join(SAMPLE_TYPES)} FROM {parquet(parts)}", path, stems=names
        )
        reader.look_at_files(con, [path])
        write(con, derive.derived(con), rolled, names)
    return path


def remove(root: Path, *paths: Path) -> None:
    for path in paths:
        path.unlink()
        (root / "rollups" / path.relative_to(root / "samples")).unlink()


def rows_of(*paths: Path) -> int:
    """Rows of files together."""
    with closing(connect()) as con:
        return count(con, f"SELECT count(*) FROM {parquet(paths)}")


def grandparent_beside(root: Path) -> int:
    """A merged into C, C into B, which does not name A; C is gone, so that A stands beside B. How many rows A has."""
    a, b, c, d, e = (one.path for one in every_sealed(root))
    first = earlier_merge(root, [a, b], [a.stem, b.stem])
    second = earlier_merge(root, [first, c], [first.stem, a.stem, b.stem, c.stem])
    named = [second.stem, a.stem, b.stem, c.stem, d.stem, e.stem]
    earlier_merge(root, [second, d, e], named)
    remove(root, a, b, c, d, e, second)
    return rows_of(first)


def within_one_file(root: Path) -> int:
    """The same, and merged once more by the earlier version: one file that holds the rows of A twice."""
    twice = grandparent_beside(root)
    beside = every_sealed(root)
    segments = {stem for one in beside for stem in segment_stems(one)}
    paths = [one.path for one in beside]
    earlier_merge(root, paths, sorted({*segments, *(path.stem for path in paths)}))
    remove(root, *paths)
    return twice


def overlapping(root: Path) -> int:
    """Two files that hold one segment in common and others alone."""
    a, b, c, d, e = (one.path for one in every_sealed(root))
    twice = rows_of(b)
    earlier_merge(root, [a, b], [a.stem, b.stem])
    earlier_merge(root, [b, c, d, e], [b.stem, c.stem, d.stem, e.stem])
    remove(root, a, b, c, d, e)
    return twice
