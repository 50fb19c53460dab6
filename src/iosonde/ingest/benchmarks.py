"""Files of benchmarks and of single operations: related files are read together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.connectors.benchmarks import kinds
from iosonde.connectors.benchmarks.flags import flag_lines, with_own_rate
from iosonde.connectors.benchmarks.mdtest import ranks as mdtest_ranks
from iosonde.connectors.benchmarks.mdtest import text as mdtest
from iosonde.connectors.benchmarks.mdworkbench import text as mdworkbench_text
from iosonde.connectors.lines import FileDefaults, Warn, file_name
from iosonde.connectors.source import Connector, FileRead, Head, Item, RunRows, Settings
from iosonde.ingest import bandwidth, io_probing, latencies, samples
from iosonde.ingest.report import Told
from iosonde.model.errors import InputFileError
from iosonde.model.runs import RunRow

_ENDING = r"(?:\.(?:txt|log|out|csv|json|gz))+$"
_TIMED = (kinds.LATENCIES, kinds.OPS)
TEXTS: dict[str, bandwidth.TextReader] = {
    kinds.MDWORKBENCH: mdworkbench_text.read_text,
    kinds.MDTEST: mdtest.read_text,
    kinds.RANKS: mdtest_ranks.read_ranks,
}
"""Readers for texts of runs."""


@dataclass(frozen=True)
class BenchmarkFile:
    """A source of one of ``connectors.benchmarks.kinds``."""

    KIND: str

    def recognises(self, head: Head) -> bool:
        """True for a file of this kind."""
        return kinds.kind_of(head) == self.KIND

    def read(self, path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        """Yield runs and samples of a single file. Raises InputFileError."""
        told = Told()
        yield from read([(path, self)], settings, told)
        for error in told.errors:
            warn(error)


SOURCES: dict[str, BenchmarkFile] = {kind: BenchmarkFile(kind) for kind in kinds.KINDS}


def read(found: Sequence[tuple[Path, Connector]], settings: Settings, told: Told) -> Iterator[Item]:
    """Yield runs and samples of files named together; unreadable ones are reported."""
    of_kind: dict[str, list[Path]] = {}
    for path, source in found:
        of_kind.setdefault(source.KIND, []).append(path)
    if of_kind.keys() & set(bandwidth.KINDS):
        several = sum(len(of_kind[kind]) for kind in of_kind if kind not in bandwidth.BESIDE) > 1
        given = _given(settings, several)
        yield from bandwidth.read(of_kind, bandwidth.How(given, told.of, TEXTS))
    timed = [(path, one.KIND) for path, one in found if one.KIND in _TIMED]
    rest = [(path, kind) for kind in (*TEXTS, kinds.PROBING, kinds.SAMPLES)
            for path in of_kind.get(kind, ())]  # fmt: skip
    if timed:
        yield from latencies.read(timed, settings, told.of)
    given = _given(settings, len(rest) > 1 or bool(timed))
    for path, kind in rest:
        warn = told.of(path)
        try:
            if kind == kinds.SAMPLES:
                yield from samples.read(path, given(path), settings, warn)
            elif kind == kinds.PROBING:
                yield from io_probing.read(path, given(path), warn)
            else:
                rows = text_rows(TEXTS[kind], path, given(path), warn)
                yield RunRows(rows)
                yield from (f"{file_name(path)}: {line}" for line in flag_lines(rows))
                yield FileRead(path, kind, len(rows))
        except InputFileError as error:
            warn(error)
            yield FileRead(path, kind, 0)


def text_rows(
    reader: bandwidth.TextReader, path: Path, given: FileDefaults, warn: Warn
) -> list[RunRow]:
    """Rows of a text, with those before a truncation; rates are operations over time."""
    rows: list[RunRow] = []
    try:
        rows.extend(map(with_own_rate, reader(path, given, warn)))
    except InputFileError as error:
        warn(error)
    return rows


def _given(settings: Settings, several: bool) -> Callable[[Path], FileDefaults]:
    """Defaults for values that a text does not contain; with several texts each is a run of its own name."""

    def given(path: Path) -> FileDefaults:
        stem = re.sub(_ENDING, "", file_name(path)) or file_name(path)
        run = settings.run
        name = stem if run is None else f"{run}-{stem}" if several else run
        return FileDefaults(
            name, settings.host, settings.target, settings.started_ns, settings.zone
        )

    return given
