"""Which of the files that can be read a file is, by what it holds and not by its name."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from iosonde.connectors.benchmarks.mdtest.ops import HEADER as OPS_HEADER
from iosonde.connectors.benchmarks.mdtest.ranks import BEGIN as RANKS_BEGIN
from iosonde.connectors.benchmarks.mdworkbench.line import parse
from iosonde.connectors.compressed import unreadable
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.samples.header import columns_of, lacking
from iosonde.connectors.tables.records import delimiter_of
from iosonde.connectors.unsupported import near_miss
from iosonde.model.errors import InputFileError

LATENCIES, OPS, RANKS = "latencies", "mdtest operations", "mdtest ranks"
MDWORKBENCH, MDTEST, PROBING = "md-workbench text", "mdtest text", "io-probing log"
SAMPLES = "samples"
KINDS: dict[str, str] = {
    LATENCIES: "latencies of md-workbench",
    MDWORKBENCH: "text of md-workbench",
    MDTEST: "text of mdtest",
    RANKS: "mdtest's table of ranks",
    OPS: "latencies of mdtest",
    PROBING: "log of io-probing",
    SAMPLES: "table of samples",
}
"""What can be read, and what it is called."""
_LOOK = 400
"""Lines that are looked at."""
_TITLE = re.compile(r"MD-(?:Workbench|REAL-IO) total objects: \d")
_MDTEST = re.compile(
    r"mdtest-\S+ was launched with \d|SUMMARY(?: rate| time)?(?: \(in .{1,10}\))?: \(of \d"
)


def recognise(path: Path) -> str:
    """One of ``KINDS``. Raises InputFileError: unreadable, or none of them."""
    first = None
    found: str | None = None
    begin: list[str] = []
    if (why := unreadable(path)) is not None and not path.is_dir():
        raise why
    if path.is_dir():
        raise InputFileError(
            f"{path}: a folder with nothing in it that can be read",
            expected="files of the kinds that docs/importing.md lists",
        )
    try:
        for line in islice(read_lines(path, lambda _: None), _LOOK):
            text = line.text.strip()
            if len(begin) < 40:
                begin.append(line.text[:1000])
            if first is None:
                first = text
                if (kind := _by_header(text)) is not None:
                    return kind
            kind = _by_line(line.text)
            if kind in (MDTEST, PROBING):
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


def _by_header(text: str) -> str | None:
    """A table says what it is in its first line."""
    if text == OPS_HEADER:
        return OPS
    if text.startswith(RANKS_BEGIN):
        return RANKS
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
    if _TITLE.match(text) or (text.startswith("Args: ") and "md-workbench" in text):
        return MDWORKBENCH
    try:
        return None if parse(text) is None else MDWORKBENCH
    except ValueError:
        return None
