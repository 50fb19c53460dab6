"""Prometheus' text exposition (and OpenMetrics): saved pages of exporters, one or many.

::

    # TYPE lustre_read_bytes_total counter
    lustre_read_bytes_total{component="ost",target="fs-OST0000"} 4.096e+06 1700000000000

Counters of two pages make deltas, of one none; gauges are read as they are. A sample's time is in ms (in OpenMetrics in
seconds); one without a time is as old as its file. Names are those of ``prometheus_names``: others, and histograms and
summaries, are left out and counted. NaN is missing, Inf no number. Source: Prometheus, "Exposition formats".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.prometheus.names import NAMES, series
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note
from iosonde.model.units import LATEST_S

KIND = "prometheus text"
_TYPE = re.compile(r"#\s+TYPE\s+([A-Za-z_:][\w:]*)\s+(\w+)\s*", re.ASCII)
_NAME = re.compile(r"([A-Za-z_:][\w:]*)\s*", re.ASCII)
_LABEL = re.compile(
    r'\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))', re.ASCII | re.DOTALL
)
_REST = re.compile(r"\s*(\S+)(?:\s+(-?[\d.]+(?:[eE]\+?\d+)?))?\s*(?:#.*)?")
_SAMPLE = re.compile(
    r'[A-Za-z_:][\w:]*(?:\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})?\s+[-+.\w]+(?:\s+-?[\d.]+)?\s*',
    re.ASCII,
)
_BROKEN_SHARE = 0.2
_MOST_NAMES = 500
"""Most ignored names reported one by one."""
_PARTS = ("_bucket", "_sum", "_count", "_created")
_SECONDS_BELOW = 100_000_000_000
_MOST_LABELS = 100
_MOST_TYPES = 100_000


def recognises(head: Head) -> bool:
    """True with a TYPE line or a known name, and hardly anything but samples."""
    lines = [
        line.strip()
        for line in islice(head.lines[: -1 if len(head.data) > 65_000 else None], 200)
        if line.strip()
    ]
    typed = any(_TYPE.fullmatch(line) for line in lines)
    ours = any((match := _NAME.match(line)) is not None and match[1] in NAMES for line in lines)
    samples = [bool(_SAMPLE.fullmatch(line)) for line in lines if not line.startswith("#")]
    broken = samples.count(False)
    return (
        (typed or ours)
        and (not samples or any(samples))
        and broken <= max(1, _BROKEN_SHARE * len(lines))
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of a page. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of several pages of one exporter, or of many."""
    gather = Gather("prometheus")
    left: Counter[str] = Counter()

    def one(path: Path) -> Iterator[Item]:
        page = _Page(path, settings, gather)
        for line in read_lines(path, warn):
            try:
                page.take(line)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "a sample of the text exposition"))
            if gather.full:
                yield from gather.blocks()
        left.update(page.ended())

    def rest() -> Iterator[Item]:
        if gather.alone:
            what = f"{paths[0]}: {gather.alone} counters were read once: no rate follows"
            warn(
                InputFileError(
                    what, expected="two pages of an exporter", hint="all of them at once"
                )
            )
        blocks = False
        for block in gather.rest():
            blocks = True
            yield block
        if not blocks and left:  # notes go with blocks, where there are any
            yield from (Note("left-out", what, n) for what, n in left.items())

    yield from read_each(paths, one, rest, warn, settings.progress)


class _Page:
    def __init__(self, path: Path, settings: Settings, gather: Gather) -> None:
        self._path, self._settings, self._gather = path, settings, gather
        self._types: dict[str, str] = {}
        self._left: Counter[str] = Counter()
        self._at: int | None = None
        self._nodes: dict[str, str] = {}
        self._node = node_of(path, settings)

    def take(self, line: Line) -> None:
        """Parse one line. Raises ValueError: no sample."""
        text = line.text.strip()
        if text.startswith("#"):
            match = _TYPE.fullmatch(text)
            if match and len(self._types) < _MOST_TYPES:
                self._types[match[1]] = match[2]
            return
        if not text:
            return
        name, labels, rest = _cut(text)
        if self._is_distribution(name):
            self._leave(self._base(name), "histograms and summaries are not read")
            return
        if name == "gpfs_perf_info":
            if len(self._nodes) < _MOST_LABELS:
                self._nodes[labels.get("fs", "")] = labels.get("nodename", "")
            return
        node = self._nodes.get(labels.get("fs", ""), "")
        if node and name.startswith("gpfs_perf_"):
            labels.setdefault("nodename", node)
        found = series(name, labels, self._settings.system, self._node)
        if found is None:
            if _REST.fullmatch(rest) is None:
                raise ValueError(f"the value {shown(rest)} is none")
            self._leave(name, "no such samples are read")
            return
        match = _REST.fullmatch(rest)
        if match is None or not line.ended:
            raise ValueError("the sample is cut" if match else f"the value {shown(rest)} is none")
        value = plain(match[1])
        what, key = found
        if value is None or (value < 0 and what.counter):
            self._gather.note("not-a-number", f"{name} of {key.component}")
            if match[1] not in ("NaN", "+Inf", "-Inf", "Inf"):
                raise ValueError(f"the value {shown(match[1])} is none")
            return
        time_ns = self._time(match[2])
        give = self._gather.counter if what.counter else self._gather.gauge
        give(key, time_ns, value * what.scale)

    def ended(self) -> Counter[str]:
        """Count the ignored names at the end of a page."""
        for what, n in self._left.items():
            self._gather.note("left-out", what, n)
        return self._left

    def _leave(self, name: str, why: str) -> None:
        what = f"{name}: {why}"
        known = what in self._left or len(self._left) < _MOST_NAMES
        self._left[what if known else "further names"] += 1

    def _base(self, name: str) -> str:
        """Name of the histogram that a sample belongs to."""
        parts = (name.removesuffix(part) for part in _PARTS if name.endswith(part))
        return next((base for base in parts if base in self._types), name)

    def _is_distribution(self, name: str) -> bool:
        if self._types.get(name) in ("histogram", "summary", "gaugehistogram"):
            return True
        for part in _PARTS:
            if name.endswith(part):
                kind = self._types.get(name.removesuffix(part))
                return kind in ("histogram", "summary", "gaugehistogram")
        return False

    def _time(self, text: str | None) -> int:
        """Time of a sample, or of the file. Raises ValueError."""
        if text is None:
            if self._at is None:
                self._at, notes = recorded(self._path, self._settings)
                for note in notes:
                    self._gather.note(note.flag, note.what)
            return self._at
        number = plain(text)
        if number is None or number < 0:
            raise ValueError(f"the time {shown(text)} cannot be")
        # 1e11 ms are in 1973: what is smaller counts seconds.
        ms = round(number * 1000) if number < _SECONDS_BELOW else round(number)
        if ms > LATEST_S * 1000:
            raise ValueError(f"the time {shown(text)} cannot be")
        return ms * 1_000_000


def _cut(text: str) -> tuple[str, dict[str, str], str]:
    """Name, labels and the rest of a line. Raises ValueError."""
    match = _NAME.match(text)
    if match is None:
        raise ValueError(f"the line is {shown(text)}")
    place = match.end()
    labels: dict[str, str] = {}
    if text[place : place + 1] != "{":
        return match[1], labels, text[place:]
    place += 1
    while text[place : place + 1] != "}":
        label = _LABEL.match(text, place)
        if label is None or len(labels) >= _MOST_LABELS:
            raise ValueError(f"the labels {shown(text[match.end() :])} cannot be read")
        if label[1] in labels:
            raise ValueError(f"the label {label[1]} is there twice")
        labels[label[1]] = _unescaped(label[2])
        place = label.end()
    return match[1], labels, text[place + 1 :]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text) if "\\" in text else text
