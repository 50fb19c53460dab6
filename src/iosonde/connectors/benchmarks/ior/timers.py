"""Rank timers that ``-vvv`` prints (open, transfer, close), and repair of lines that ranks interleaved.

::

    Test 0: Iter=0, Task=1, Time=1795257236.938492, write open start       (3.x, 4.x)
    Task=0, Time=1365558598.489247, write open start                       (2.10.3)
    FS                  : 252.0 GiB   Utask 1 writing ior/f.00000001
    sed FS: 9.8%   Inodes: 16.0 Mi   Used Inodes: 3.8%

Ranks write to one stream without asking each other: a line may stand within another, whose rest follows. The inner
one is taken out and the outer one joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from iosonde.connectors.lines import Line
from iosonde.model.frames import NULL_NS

INSTANTS = (
    *("open_begin", "open_end", "transfer_begin", "transfer_end", "close_begin", "close_end"),
)
_WORDS = ("open start", "open stop", "start", "stop", "close start", "close stop")
_PLACE = {word: place for place, word in enumerate(_WORDS)}
_TIMER = (
    r"(?:Test (?P<test>\d{1,9}): Iter=(?P<iter>\d{1,9}), )?Task=(?P<task>\d{1,9}), "
    r"Time=(?P<time>\d{1,12}(?:\.\d{1,12})?), (?P<access>write|read) "
    r"(?P<what>(?:open |close )?(?:start|stop))(?![a-z])"
)
_TASK = r"[Tt]ask (?P<named>\d{1,9}) (?P<doing>writing|reading) (?P<file>\S.*?)"
_ATOM = re.compile(
    rf"{_TIMER}|{_TASK}(?=$|Test \d+: Iter=|task \d+ (?:writing|reading) )", re.ASCII
)
_HINT = re.compile(r"Task=\d|Iter=\d|Time=\d{6}")
_MOST_RANK, _MOST_REPETITION = 10_000_000, 2**31 - 1
_MOST_S = 7_258_118_400
"""End of the year 2199."""
_COMPLETE = re.compile(
    r"(?:write|read|remove)\s+[-\d]|\d+: stonewalling|stonewalling|Max |WARNING|Commencing|Summary|Operation"
    r"|access |------|Options|Results|Parameters|Finished|Test |TEST|(?=.{20}: )[A-Za-z][A-Za-z ]* *: "
)
"""Complete lines: none is the second half of another."""
_AFTER_ENVIRONMENT = ("Summary:", "TEST:", "Test ", "TestID ", "Options:", "access ", "write ")
_ENVIRONMENT = ("STARTING ENVIRON LOOP", "ENDING ENVIRON LOOP")


@dataclass
class RankTimers:
    """A rank's six instants in ns of its timer, as far as printed; ``NULL_NS`` for the others."""

    ns: list[int] = field(default_factory=lambda: [NULL_NS] * len(INSTANTS))


class Timers:
    """Timers of one test."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], dict[int, RankTimers]] = {}
        """By access and repetition, then by rank."""
        self._seen: dict[tuple[str, int, int], int] = {}
        self.files: dict[str, dict[int, str]] = {"write": {}, "read": {}}
        """By access, then by rank."""

    def take(self, match: re.Match[str]) -> bool:
        """Parse one line of a rank; False for impossible numbers."""
        if match["named"] is not None:
            if int(match["named"]) <= _MOST_RANK:
                access = "write" if match["doing"] == "writing" else "read"
                self.files[access][int(match["named"])] = match["file"].strip()
            return True
        rank, place = int(match["task"]), _PLACE[match["what"]]
        seconds, _, fraction = match["time"].partition(".")
        if rank > _MOST_RANK or int(seconds) > _MOST_S:
            return False
        access = match["access"]
        if match["iter"] is None:
            # 2.10.3 does not number repetitions: the same word of the same rank begins the next.
            repetition = self._seen.get((access, rank, place), 0)
            self._seen[access, rank, place] = repetition + 1
        else:
            repetition = min(int(match["iter"]), _MOST_REPETITION)
        ns = int(seconds) * 1_000_000_000 + int(fraction[:9].ljust(9, "0"))
        ranks = self.found.setdefault((access, repetition), {})
        ranks.setdefault(rank, RankTimers()).ns[place] = ns
        return True


Piece = tuple[Line, re.Match[str] | None, bool]
"""A line, the match of a rank's output, and True if the line is torn."""


def mended(lines: Iterator[Line]) -> Iterator[Piece]:
    """Yield lines of a log: rank output as a match, with torn lines joined; other lines whole.

    The environment that ``-vvv`` prints is passed over. A torn line of a timer whose other half is nowhere is given
    out as it is, so that its place can be told.
    """
    held: Line | None = None
    for read in _without_environment(lines):
        line = read
        if held is not None and _spans(held, line):
            line, held = Line(held.number, held.text + line.text, line.ended), None
        matches = list(_ATOM.finditer(line.text))
        for match in matches:
            yield line, match, False
        if matches:
            ends = [0, *(match.end() for match in matches)]
            begins = [*(match.start() for match in matches), len(line.text)]
            rest = "".join(line.text[end:begin] for end, begin in zip(ends, begins, strict=True))
            if not rest.strip():
                continue
            if held is None:
                held = Line(line.number, rest, line.ended)
                continue
            yield _whole(Line(held.number, held.text + rest, line.ended))
        elif held is None:
            yield _whole(line)
        elif _COMPLETE.match(line.text):
            yield _whole(held)
            yield _whole(line)
        else:
            yield _whole(Line(held.number, held.text + line.text, line.ended))
        held = None
    if held is not None:
        yield _whole(held)


def _without_environment(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield lines outside the environment. Its end may be torn: any line that can only follow it ends it too."""
    silent = False
    for line in lines:
        if line.text.strip() in _ENVIRONMENT:
            silent = line.text.startswith(_ENVIRONMENT[0])
        elif not silent or _ATOM.search(line.text) is not None:
            yield line
        elif line.text.startswith(_AFTER_ENVIRONMENT):
            silent = False
            yield line


def _spans(held: Line, line: Line) -> bool:
    """True if two lines join to one line of a rank: the second alone may look like one of 2.10.3."""
    match = _ATOM.search(held.text + line.text)
    return match is not None and match.start() < len(held.text) < match.end()


def _whole(line: Line) -> Piece:
    """A line as it is, or a rank's line joined from two halves."""
    match = _ATOM.search(line.text)
    return line, match, match is None and _HINT.search(line.text) is not None
