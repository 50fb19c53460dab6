"""Import of other tools' files of any kind into the store. Each file is read once, as a stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lines import Warn
from iosonde.connectors.many_files import named
from iosonde.connectors.source import FileRead, Item, Settings
from iosonde.connectors.tables.mapping import Mapping as TableMapping
from iosonde.ingest import benchmarks
from iosonde.ingest.log_transfers import MOST_LOGS, keep_logs, logs_of
from iosonde.ingest.recognise import Found, recognise
from iosonde.ingest.report import FileImport, Imported
from iosonde.ingest.words import counted, file_lines, lines_of
from iosonde.ingest.writer import Writer
from iosonde.jobs.environment.join import join
from iosonde.model.errors import InputFileError, UsageError

__all__ = [
    "FileImport",
    "Imported",
    "QueryRange",
    "Question",
    "counted",
    "file_lines",
    "import_files",
    "is_address",
    "lines_of",
]

_ONE_BY_ONE = 10
"""Number of files of a kind that are reported one by one."""
Work = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Context that announces a step, and yields its progress callback (done, total)."""
Report = Callable[[FileImport | FileRead, Imported], None]
"""Callback for each file, or several of a kind, once it is stored whole, with the totals so far."""


class QueryRange(NamedTuple):
    """Instants in [begin, end], every ``step_ns``."""

    begin_ns: int
    end_ns: int
    step_ns: int


@dataclass(frozen=True)
class Question:
    """Files, folders and servers to import, and values that they do not contain."""

    paths: Sequence[Path]
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    mappings: Sequence[TableMapping] = ()
    urls: Sequence[str] = ()
    span: QueryRange | None = None
    """Time range for the servers."""
    environment: Mapping[str, str] | None = None
    """Environment variables; None: those of the process."""


def is_address(text: str) -> bool:
    """True for the address of a server, False for a file name."""
    scheme, mark, _ = text.partition("://")
    return bool(mark) and scheme.isalpha()


def import_files(
    root: Path,
    question: Question,
    now_ns: int,
    work: Work | None = None,
    report: Report = lambda _file, _all: None,
) -> Imported:
    """Import files of every readable kind, then join jobs and servers.

    What is none, or breaks, is told of in ``errors``; the others are imported. Raises UsageError (no file, a file of
    a benchmark twice, a mapping that fits nothing), StoreError.
    """
    progress_of_all = question.settings.progress or (lambda _done, _all: None)
    work = work or (lambda _: nullcontext(progress_of_all))
    if not question.paths and not question.urls:
        raise UsageError("no file to import", expected="files of the kinds of docs/importing.md")
    with work("looking at files") as progress:
        known = recognise(question.paths, question.mappings, progress)
    done = Imported(len(known.found), unopened=known.unopened, unknown=known.unknown)
    done.told.errors += known.refused
    runs = [one for one in known.found if one[1].KIND in benchmarks.SOURCES]
    records = [one for one in known.found if one[1].KIND not in benchmarks.SOURCES]
    using = _Import(root, question.settings, done, now_ns, work, report)
    using.records(records)
    using.servers(question)
    if runs:
        using.runs(runs)
    using.logs(records)
    if done.files:
        using.join()
    return done


@dataclass(frozen=True)
class _Import:
    """State of an import."""

    root: Path
    settings: Settings
    done: Imported
    now_ns: int
    work: Work
    report: Report

    def records(self, found: Sequence[Found]) -> None:
        """Import files of one kind together if that adds information (two readings of a counter), else one by one."""
        groups: dict[str, list[Found]] = {}
        for one in found:
            groups.setdefault(one[1].KIND, []).append(one)
        for kind, group in groups.items():
            paths, source = [path for path, _ in group], group[0][1]
            with self.work(f"reading {kind}") as progress:
                settings = replace(self.settings, progress=progress)
                many = getattr(source, "read_many", None)
                warn = self.done.told.of(named(paths))
                if many is not None and len(group) > 1:
                    self._take(paths, kind, many(paths, settings, warn))
                elif len(group) > _ONE_BY_ONE:
                    self._take(paths, kind, _chained(group, settings, warn))
                else:
                    self._one_by_one(group, settings)

    def _one_by_one(self, group: Sequence[Found], settings: Settings) -> None:
        within = replace(settings, progress=None) if len(group) > 1 else settings
        for done, (path, source) in enumerate(group, 1):
            items = source.read(path, within, self.done.told.of(path))
            self._take([path], source.KIND, items)
            if settings.progress is not None and len(group) > 1:
                settings.progress(done, len(group))

    def servers(self, question: Question) -> None:
        """Import the range from each Prometheus server."""
        if not question.urls or question.span is None:
            return
        from iosonde.connectors.prometheus import http_api

        with self.work("asking servers") as progress:
            settings = replace(self.settings, progress=progress)
            for url in question.urls:
                warn = self.done.told.of(url)
                environment = os.environ if question.environment is None else question.environment
                items = http_api.read_range(
                    url, *question.span, settings, warn, environment=environment
                )
                self._take(url, http_api.KIND, items)

    def _take(self, of: Sequence[Path] | str, kind: str, items: Iterator[Item]) -> None:
        """Write records of files or of a server; those before an error are stored."""
        name = of if isinstance(of, str) else named(of)
        one = FileImport(name, kind, 0 if isinstance(of, str) else len(of))
        writer = Writer(self.root, one, self.done, self.now_ns)
        try:
            for item in items:
                writer.take(item)
        except InputFileError as error:
            self.done.told.of(name)(error)
        finally:
            writer.flush()
        self.done.told.rest()
        self.done.files.append(one)
        self.report(one, self.done)

    def runs(self, found: Sequence[Found]) -> None:
        """Import files of benchmarks and of single operations."""
        rest = FileImport("", "")
        writer = Writer(self.root, rest, self.done, self.now_ns)
        try:
            for item in benchmarks.read(found, self.settings, self.done.told):
                writer.take(item)
                if isinstance(item, FileRead):
                    self.report(item, self.done)
        finally:
            writer.close()
            self.done.told.rest()
        self.done.remarks += rest.remarks

    def logs(self, records: Sequence[Found]) -> None:
        """Store the input of ``iosonde locate`` from Darshan logs."""
        logs = logs_of(records)
        if len(logs) > MOST_LOGS:
            self.done.logs_beyond = len(logs)
        elif logs:
            with self.work("reading files of jobs") as progress:
                self.done.located += keep_logs(self.root, logs, progress)

    def join(self) -> None:
        """Join new jobs, and those that ran during the new records."""
        files = self.done.files
        keys = {key for one in files for key in one.keys}
        spans = [one.span_ns for one in files if one.span_ns and (one.samples or one.edges)]
        span = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None
        with self.work("putting jobs and servers together") as progress:
            self.done.joined = join(self.root, keys=keys, span_ns=span, progress=progress)


def _chained(group: Sequence[Found], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Chain very many files, to write their contents together and not file by file."""
    for done, (path, one) in enumerate(group, 1):
        try:
            yield from one.read(path, replace(settings, progress=None), warn)
        except InputFileError as error:
            warn(error)
        if settings.progress is not None:
            settings.progress(done, len(group))
