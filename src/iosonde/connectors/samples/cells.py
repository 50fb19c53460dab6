"""Cells of a table of operations: instants, durations, operations, outcomes. Raises ValueError with the reason."""

from __future__ import annotations

import errno
import re
from datetime import datetime
from decimal import Decimal

from iosonde.connectors.lines import MOST_S, shown
from iosonde.connectors.samples.header import UNITS
from iosonde.connectors.wall_times import WallTimes

OPS: dict[str, tuple[str, ...]] = {
    "data_read": ("read", "reads", "pread", "r"),
    "data_write": ("write", "writes", "pwrite", "w"),
    "md_create": ("create", "creates", "creat", "mknod"),
    "md_stat": ("stat", "stats", "lstat", "fstat", "statx", "getattr"),
    "md_read": ("open", "opens", "small_read", "small_reads"),
    "md_delete": ("delete", "deletes", "unlink", "remove", "rm"),
}
"""Other tools' names for each operation."""
_OPS = {word: op for op, words in OPS.items() for word in (op, *words)}
_KNOWN = ("ok", "skipped", "pending", "timeout", "short", "shed", "corrupt", "error")
_OUTCOMES = dict.fromkeys(("", "0", "success", "succeeded", "true", "done"), "ok")
_OUTCOMES |= dict.fromkeys(("fail", "failed", "failure", "false"), "error")
_OUTCOMES |= dict.fromkeys(("timed_out", "timedout", "time_out"), "timeout")
_OUTCOMES |= {name: name for name in _KNOWN}
EARLIEST_NS, LATEST_NS = 631_152_000 * 10**9, 4_102_444_800 * 10**9
"""1990 and 2100."""
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "nil", "nat", "-", "\\n"})
LONGEST_MISSING = max(map(len, MISSING))
_NUMBER = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,2})?", re.ASCII)
_WHOLE = re.compile(r"\d{1,20}", re.ASCII)
_NAME = 200


def op_of(text: str) -> str:
    """Parse ``read`` to ``data_read``, in any letter case."""
    found = _OPS.get(_word(text))
    if found is None:
        every = f"one of {', '.join(OPS)}, or a word that docs/importing.md lists for them"
        raise ValueError(f"there is no operation {shown(text)}; expected {every}")
    return found


def outcome_of(text: str) -> str:
    """Parse an outcome: ``ok`` for an empty cell; numbers above 0 are errnos."""
    word = _word(text)
    found = _OUTCOMES.get("" if text.strip().lower() in MISSING else word)
    if found is not None:
        return found
    if word.upper() in errno.errorcode.values():
        return word.upper()
    if _WHOLE.fullmatch(word.removeprefix("errno_")):
        number = int(word.removeprefix("errno_"))
        return errno.errorcode.get(number, f"errno {number}")
    expected = f"{', '.join(_KNOWN)}, or an errno such as ENOSPC"
    raise ValueError(f"the outcome is {shown(text)}; expected {expected}")


def name_of(text: str, what: str) -> str:
    """Check the name of a host, target or run."""
    name = text.strip()
    if not name.isprintable() or len(name) > _NAME:
        raise ValueError(
            f"the {what} is {shown(text)}; expected at most {_NAME} printable characters"
        )
    return name


def scaled(text: str, unit: int, what: str) -> int:
    """A number times ``unit``, rounded half to even, without loss of digits."""
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text) * unit
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"the {what} is {shown(text)}; expected a number such as 1234.5")
    return round(Decimal(text) * unit)


def span_of(text: str, unit: int, what: str) -> int:
    """A duration in ns."""
    value = scaled(text, unit, what)
    if not 0 <= value <= MOST_S * 1e9:
        raise ValueError(f"the {what} is {shown(text)}; expected 0 to {MOST_S:.0e} s")
    return value


class Instants:
    """Parser for instants of one table. ``started_ns``: origin of numbers before 1990; None: no origin."""

    def __init__(self, clock: WallTimes, started_ns: int | None) -> None:
        self._clock, self._started_ns = clock, started_ns

    def ns(self, text: str, unit: int | None, what: str) -> int:
        """Parse an instant: a clock time, or a number in ``unit`` (None: the one that dates it 1990 to 2100)."""
        text = text.strip()
        if _NUMBER.fullmatch(text):
            return self._number(text, unit, what)
        try:
            moment = datetime.fromisoformat(text)
            found = self._clock.ns(moment)
        except ValueError:
            found = None
        if found is None:
            expected = "2026-03-26T07:00:00+01:00 or a number since 1970"
            raise ValueError(f"the {what} is {shown(text)}; expected {expected}")
        return self._possible(found + _below_us(text), text, what)

    def _number(self, text: str, unit: int | None, what: str) -> int:
        if unit is None:
            for one in UNITS.values():
                ns = scaled(text, one, what)
                if EARLIEST_NS <= ns < LATEST_NS:
                    return ns
            hint = "a unit in the column's name (time_s), and --started if it counts from a begin"
            raise ValueError(
                f"the {what} {shown(text)} is no instant from 1990 to 2100; try {hint}"
            )
        ns = scaled(text, unit, what)
        if 0 <= ns < EARLIEST_NS and self._started_ns is not None:
            ns += self._started_ns
        return self._possible(ns, text, what)

    def _possible(self, ns: int, text: str, what: str) -> int:
        if EARLIEST_NS <= ns < LATEST_NS:
            return ns
        hint = "; try --started TIME if it counts from a begin" if 0 <= ns < EARLIEST_NS else ""
        raise ValueError(f"the {what} {shown(text)} is not from 1990 to 2100{hint}")


def _below_us(text: str) -> int:
    """Nanoseconds of a clock time below its microseconds."""
    match = re.search(r"[.,]\d{6}(\d{1,3})", text)
    return int(match[1].ljust(3, "0")) if match else 0


def _word(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().lower())
