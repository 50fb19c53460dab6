"""Kinds of benchmark and operation files, recognised by their contents and not by their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice

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
from iosonde.connectors.lines import read_lines
from iosonde.connectors.samples.header import columns_in
from iosonde.connectors.source import Head
from iosonde.model.errors import InputFileError

LATENCIES, MDWORKBENCH = "latencies of md-workbench", "text of md-workbench"
MDTEST, RANKS, OPS = "text of mdtest", "mdtest's table of ranks", "latencies of mdtest"
PROBING, SAMPLES = "log of io-probing", "table of samples"
IOR, IOR_JSON, IOR_CSV = "text of IOR", "IOR's summary in JSON", "IOR's summary in CSV"
IOR_RANKS, IOR_OPS = "IOR's table of ranks", "operations of IOR"
IO500_RESULT, IO500_SUMMARY = "result of IO500", "summary of IO500"
IO500_FIND, IO500_CONFIG = "IO500's table of a find phase", "configuration of IO500"
KINDS = (
    *(LATENCIES, MDWORKBENCH, MDTEST, RANKS, OPS, PROBING, SAMPLES, IOR, IOR_JSON, IOR_CSV),
    *(IOR_RANKS, IOR_OPS, IO500_RESULT, IO500_SUMMARY, IO500_FIND, IO500_CONFIG),
)
_LOOK = 400
"""Most lines examined."""
_TITLE = re.compile(r"MD-(?:Workbench|REAL-IO) total objects: \d")


def _of_mdworkbench(text: str) -> bool:
    if _TITLE.match(text) or (text.startswith("Args: ") and "md-workbench" in text):
        return True
    try:
        return parse(text) is not None
    except ValueError:
        return False


_LINES: tuple[tuple[Callable[[str], object], str], ...] = (
    (re.compile(r"timestamp \d{1,12}\s*\Z|\tra-(?:count|size|file)=").match, PROBING),
    (
        re.compile(
            r"mdtest-\S+ was launched with \d|SUMMARY(?: rate| time)?(?: \(in .{1,10}\))?: \(of \d"
        ).match,
        MDTEST,
    ),
    (re.compile(r'\s*"(?:bwMiB|bwMaxMIB)"\s*:').match, IOR_JSON),
    (ior.TITLE.match, IOR),
    (ior.HEADER.match, IOR),
    (re.compile(r"Test \d{1,9}: Iter=\d{1,9}, Task=\d").match, IOR),
    (io500.SUMMARY.match, IO500_SUMMARY),
    (io500.CONFIG.match, IO500_CONFIG),
    (io500.RESULT.match, IO500_RESULT),
    (_of_mdworkbench, MDWORKBENCH),
)
"""Patterns of lines that only one program prints. (io-probing prints most of md-workbench's lines.)"""
_BEGINS = (
    (ior_ranks.HEADER, IOR_RANKS),
    (ior_summary.CSV_BEGIN, IOR_CSV),
    (RANKS_BEGIN, RANKS),
)
"""First lines of tables."""
_SURE = (MDTEST, PROBING, IOR_JSON, IO500_RESULT, IO500_SUMMARY, IO500_CONFIG)
"""Kinds for which one matching line is enough. A log of IOR may continue as JSON."""


@lru_cache(maxsize=1)
def kind_of(head: Head) -> str:
    """Return an entry of ``KINDS``; "" if none fits. With several programs in one text the first counts."""
    found = ""
    try:
        lines = islice(read_lines(head.path, lambda _: None), _LOOK)
        for place, line in enumerate(lines):
            if not place and (kind := _by_header(line.text.strip(), head.path.name)):
                return kind
            kind = next((kind for fits, kind in _LINES if fits(line.text)), "")
            if kind in _SURE:
                return kind
            found = found or kind
    except InputFileError:
        pass
    return found


def _by_header(text: str, name: str) -> str:
    """Kind by the header line of a table; operations of IOR and mdtest, whose headers are equal, by file name."""
    if text == OPS_HEADER:
        both = mdtest_name(name) is None and ior_ops.parse_name(name) is not None
        return IOR_OPS if both else OPS
    for begin, kind in _BEGINS:
        if text.startswith(begin):
            return kind
    if io500_find.BEGIN.fullmatch(text):
        return IO500_FIND
    if text in ("time,runtime", "op,iter,rank,time_s,runtime_s"):
        return LATENCIES
    return "" if columns_in(text).missing else SAMPLES
