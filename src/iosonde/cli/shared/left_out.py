"""The end of an import: the names of what it left out, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from iosonde.cli.shared.terminal import one_line
from iosonde.ingest.folders import why_unknown
from iosonde.ingest.records import FileImport
from iosonde.model.units import format_count

_MOST_FILES, _MOST_NAMES = 20, 40


def left_out_lines(
    unknown: Sequence[tuple[Path, Sequence[Path]]], done: Sequence[FileImport]
) -> Iterator[str]:
    """Files of folders that nothing can read, then what was not read of the others; nothing for none."""
    lines = [*_files(unknown), *_names(done)]
    if lines:
        yield "left out:"
        yield from (f"  {one_line(line)}" for line in lines)


def _files(unknown: Sequence[tuple[Path, Sequence[Path]]]) -> Iterator[str]:
    files = [(folder, path) for folder, paths in unknown for path in paths]
    for folder, path in files[:_MOST_FILES]:
        yield f"{path.relative_to(folder)}: {why_unknown(path)}"
    if (more := len(files) - _MOST_FILES) > 0:
        yield f"and {format_count(more)} more files"


def _names(done: Sequence[FileImport]) -> Iterator[str]:
    names = [(one.name, *item) for one in done for item in one.left_out.items()]
    for file, what, n in names[:_MOST_NAMES]:
        times = f" (x {format_count(n)})" if n > 1 else ""
        yield f"{file}: {what}{times}"
    if (more := len(names) - _MOST_NAMES) > 0:
        yield f"and {format_count(more)} more names"
