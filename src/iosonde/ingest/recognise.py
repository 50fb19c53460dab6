"""Recogniser: files and folders in, connectors that read them out, and unreadable files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.connectors.benchmarks.kinds import SAMPLES
from iosonde.connectors.benchmarks.kinds import kind_of as benchmark_kind
from iosonde.connectors.darshan.head import is_log
from iosonde.connectors.lines import storable
from iosonde.connectors.program_files import is_program
from iosonde.connectors.samples.header import columns_of, lacking
from iosonde.connectors.source import Connector, head_of
from iosonde.connectors.sources import NO_KIND, of_folder, refusal
from iosonde.connectors.sources import source_of as record_source
from iosonde.connectors.tables.mapping import Mapping
from iosonde.connectors.walk import entries_below
from iosonde.engine.foreign import tables as foreign
from iosonde.ingest.benchmarks import SOURCES
from iosonde.ingest.report import Unknown
from iosonde.ingest.tables import given_reader, table_reader
from iosonde.model.errors import InputFileError, UsageError

MOST_FILES = 1_000_000
_TREES = ("proc", "sys")
_PROGRAM = "source or manual of a program; named alone it is read"
_BY_ITS_FOLDER = "Darshan log"
Found = tuple[Path, Connector]


@dataclass
class Recognised:
    """Result of recognising files and folders."""

    found: list[Found] = field(default_factory=list)
    """Files, and folders that are read as one (Darshan logs, a kernel's tree), each with its connector."""
    refused: list[InputFileError] = field(default_factory=list)
    """Named files and folders that nothing can read."""
    unknown: list[Unknown] = field(default_factory=list)
    """Files in folders that nothing can read."""
    unopened: list[InputFileError] = field(default_factory=list)
    """Files and folders below folders that cannot be opened."""


def recognise(
    paths: Sequence[Path],
    mappings: Sequence[Mapping] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Recognised:
    """Find a connector for each of ``paths``; a folder stands for all readable files in and below it.

    ``progress`` gets how many files of a folder were looked at, of how many. Raises UsageError: a file is named twice,
    or none of ``mappings`` fits a file that nothing else can read; InputFileError: more than ``MOST_FILES``.
    """
    done = Recognised()
    for path in paths:
        if path.is_dir():
            continue
        try:
            done.found.append((path, source_of(path, mappings)))
        except InputFileError as error:
            done.refused.append(error)
    records = {path for path, one in done.found if one.KIND not in SOURCES}
    others = [os.path.realpath(path) for path in paths if path not in records]
    if len(set(others)) < len(others):
        raise UsageError("a file appears twice", expected="each file once")
    named = {os.path.realpath(path) for path in paths if not path.is_dir()}
    for folder in paths:
        if folder.is_dir():
            before = len(done.found)
            _look(folder, mappings, done, progress)
            if len(done.found) == before:
                done.refused.append(refusal(folder))
            new = [one for one in done.found[before:] if os.path.realpath(one[0]) not in named]
            done.found[before:] = new
            named |= {os.path.realpath(path) for path, _ in new}
    return done


def source_of(path: Path, mappings: Sequence[Mapping] = ()) -> Connector:
    """Connector for a file: a table that fits a mapping comes first, even if a connector would accept it.

    Raises InputFileError: unreadable, or nothing can read it; UsageError: neither can, and no mapping fits.
    """
    head = head_of(path)
    tabular = head.raw.startswith(b"PAR1") or head.text.lstrip()[:1] in ("{", "[")
    unnamed = tabular and storable(str(path)) != str(path)  # the engine cannot open it
    given = given_reader(path, mappings) if head.data and not unnamed else None
    if source := given or record_source(head):
        return source
    if kind := benchmark_kind(head):
        return SOURCES[kind]
    if unnamed:
        what = f"{path} is a table with a name that is not UTF-8"
        raise InputFileError(what, expected="a name that can be printed", hint="another name")
    if names := foreign.columns_of(path):
        columns = columns_of(names)
        if not columns.missing:
            return SOURCES[SAMPLES]
        if columns.near:
            raise lacking(path, columns)
    if (table := table_reader(path, mappings)) is not None:
        return table
    raise refusal(path)


def _why_unknown(path: Path, error: InputFileError | UsageError) -> str:
    """Reason why nothing can read a file of a folder, for people."""
    if isinstance(error, UsageError):  # of a mapping, which may be meant for another file
        error = refusal(path)
    if error.expected == NO_KIND:
        return "no kind that iosonde reads"
    what = error.what
    for begin in (f"{path} looks like ", f"{path} ", f"{path}: "):
        what = what.removeprefix(begin)
    return f"{what}; try {error.hint}" if error.hint else what


def _look(
    folder: Path,
    mappings: Sequence[Mapping],
    done: Recognised,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Recognise everything in and below a folder. Does not follow links; skips names that start with a dot."""
    whole = of_folder(folder)
    done.found += [(folder, one) for one in whole]
    tree = any(one.KIND != _BY_ITS_FOLDER for one in whole)
    files: list[Path] = []
    try:
        # A kernel's trees are read by their place.
        for entry in entries_below(
            folder, done.unopened.append, hidden=False, but=_TREES if tree else ()
        ):
            if entry.is_file(follow_symlinks=False):
                files.append(Path(entry.path))
            if len(files) > MOST_FILES:
                break
    except InputFileError as error:
        done.unopened.append(error)
    if len(files) > MOST_FILES:
        what = f"{folder} has more than {MOST_FILES} files"
        raise InputFileError(what, expected="fewer", hint="parts of it")
    for n, path in enumerate(files, 1):
        if progress is not None:
            progress(n, len(files))
        try:
            head = head_of(path)
            if is_log(head.raw):
                continue  # read with the folder, on all CPUs
            if is_program(head):
                done.unknown.append(Unknown(path.relative_to(folder), _PROGRAM))
                continue
        except InputFileError as error:
            done.unopened.append(error)
            continue
        try:
            done.found.append((path, source_of(path, mappings)))
        except (InputFileError, UsageError) as error:
            why = _why_unknown(path, error)
            done.unknown.append(Unknown(path.relative_to(folder), why))
