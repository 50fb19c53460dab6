"""Which of the files that can be read a file is, by what it holds and not by its name."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from iosonde.connectors.benchmarks.io500 import find as io500_find
from iosonde.connectors.benchmarks.io500 import result as io500
from iosonde.connectors.benchmarks.ior import ops as ior_ops
from iosonde.connectors.benchmarks.ior import ranks as ior_ranks
from iosonde.connectors.benchmarks.ior import summary as ior_summary
from iosonde.connectors.benchmarks.ior import text as ior
from iosonde.connectors.benchmarks.mdtest.ops import HEADER as OPS_HEADER
from iosonde.connectors.benchmarks.mdtest.ops import parse_name as mdtest_name
from iosonde.connectors.benchmarks.mdtest.ranks import BEGIN as RANKS_BEGIN
from iosonde.connectors.benchmarks.mdworkbench.line import parse
from iosonde.connectors.compressed import unreadable
from iosonde.connectors.containers import container_error
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.samples.header import columns_of, lacking
from iosonde.connectors.tables.records import delimiter_of
from iosonde.connectors.unsupported import near_miss
from iosonde.model.errors import InputFileError

LATENCIES, OPS, RANKS = "latencies", "mdtest operations", "mdtest ranks"
MDWORKBENCH, MDTEST, PROBING = "md-workbench text", "mdtest text", "io-probing log"
SAMPLES = "samples"
IOR, IOR_JSON, IOR_CSV = "IOR text", "IOR JSON", "IOR CSV"
IOR_RANKS, IOR_OPS = "IOR ranks", "IOR operations"
IO500_RESULT, IO500_SUMMARY, IO500_FIND = "IO500 result", "IO500 summary", "IO500 find"
IO500_CONFIG = "IO500 configuration"
KINDS: dict[str, str] = {
    LATENCIES: "latencies of md-workbench",
    MDWORKBENCH: "text of md-workbench",
    MDTEST: "text of mdtest",
    RANKS: "mdtest's table of ranks",
    OPS: "latencies of mdtest",
    PROBING: "log of io-probing",
    SAMPLES: "table of samples",
    IOR: "text of IOR",
    IOR_JSON: "IOR's summary in JSON",
    IOR_CSV: "IOR's summary in CSV",
    IOR_RANKS: "IOR's table of ranks",
    IOR_OPS: "operations of IOR",
    IO500_RESULT: "result of IO500",
    IO500_SUMMARY: "summary of IO500",
    IO500_FIND: "IO500's table of a find phase",
    IO500_CONFIG: "configuration of IO500",
}
"""What can be read, and what it is called."""
_LOOK = 400
"""Lines that are looked at."""
_TITLE = re.compile(r"MD-(?:Workbench|REAL-IO) total objects: \d")
_MDTEST = re.compile(
    r"mdtest-\S+ was launched with \d|SUMMARY(?: rate| time)?(?: \(in .{1,10}\))?: \(of \d"
)

_LINES = (
    (re.compile(r'\s*"(?:bwMiB|bwMaxMIB)"\s*:'), IOR_JSON),
    (ior.TITLE, IOR),
    (ior.HEADER, IOR),
    (re.compile(r"Test \d{1,9}: Iter=\d{1,9}, Task=\d"), IOR),
    (io500.SUMMARY, IO500_SUMMARY),
    (io500.CONFIG, IO500_CONFIG),
    (io500.RESULT, IO500_RESULT),
)
_BEGINS = {
    ior_ranks.HEADER: IOR_RANKS,
    ior_summary.CSV_BEGIN: IOR_CSV,
    RANKS_BEGIN: RANKS,
}
"""How tables begin."""
_SURE = (MDTEST, PROBING, IOR_JSON, IO500_RESULT, IO500_SUMMARY, IO500_CONFIG)
"""Of whose lines one is enough. A log of IOR may go on as JSON."""


def recognise(path: Path) -> str:
    """One of ``KINDS``. Raises InputFileError: unreadable, or none of them."""
    first = None
    found: str | None = None
    begin: list[str] = []
    _refuse(path)
    try:
        for line in islice(read_lines(path, lambda _: None), _LOOK):
            text = line.text.strip()
            if len(begin) < 40:
                begin.append(line.text[:1000])
            if first is None:
                first = text
                if (kind := _by_header(text, path.name)) is not None:
                    return kind
            kind = _by_line(line.text)
            if kind in _SURE:
                return kind
            found = found or kind
    except InputFileError:
        if first is None:
            raise
    if found is not None:
        return found
    columns = columns_of(_fields(first or ""))
    if columns.near:
        raise lacking(path, columns)
    like, hint = near_miss(begin)
    if like:
        expected = "a record of servers or jobs as docs/importing.md lists them"
        raise InputFileError(f"{path} looks like {like}", expected=expected, hint=hint)
    what = f"the first line is {shown(first)}" if first else "the first line is missing"
    others = "or a record of servers or jobs as docs/importing.md lists them"
    raise bad(path, 1, what, f"one of: {', '.join(KINDS.values())}; {others}")


def _refuse(path: Path) -> None:
    """Raise InputFileError for what is no text that can be read: packed, empty, a broken database, a folder."""
    if path.is_dir():
        raise InputFileError(
            f"{path}: a folder with nothing in it that can be read",
            expected="files of the kinds that docs/importing.md lists",
        )
    why = unreadable(path) or container_error(path)
    if why is not None:
        raise why


def _by_header(text: str, name: str) -> str | None:
    """A table says what it is in its first line; operations of IOR and mdtest, which have the same, in their names."""
    if text == OPS_HEADER:
        both = mdtest_name(name) is None and ior_ops.parse_name(name) is not None
        return IOR_OPS if both else OPS
    for begin, kind in _BEGINS.items():
        if text.startswith(begin):
            return kind
    if io500_find.BEGIN.fullmatch(text):
        return IO500_FIND
    if text in ("time,runtime", "op,iter,rank,time_s,runtime_s"):
        return LATENCIES
    return None if columns_of(_fields(text)).missing else SAMPLES


def _fields(header: str) -> list[str]:
    """The names in a line, if it is a header."""
    return [name.strip().strip('"') for name in header.split(delimiter_of(header))]


def _by_line(text: str) -> str | None:
    """What only one of the programs prints. io-probing prints most of what md-workbench does."""
    if re.fullmatch(r"timestamp \d{1,12}\s*", text) or re.match(r"\tra-(count|size|file)=", text):
        return PROBING
    if _MDTEST.match(text):
        return MDTEST
    for pattern, kind in _LINES:
        if pattern.match(text):
            return kind
    if _TITLE.match(text) or (text.startswith("Args: ") and "md-workbench" in text):
        return MDWORKBENCH
    try:
        return None if parse(text) is None else MDWORKBENCH
    except ValueError:
        return None
