"""Parameters and machine of a run for people: sizes, times and faults in the words of the command line."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.model.runs import RunRow
from iosonde.model.units import format_option, format_percent, format_size

_ELSEWHERE = ("reported", "digests", "pattern", "ranks")
"""Parameters that are not the user's, or are shown elsewhere."""
_SIMPLE = {"data_write": "write", "data_read": "read"}
_LONGEST = 60


def parameter_words(parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value of each parameter that is not off."""
    return [
        (name.removesuffix("_bytes").removesuffix("_ns"), _value(name, value))
        for name, value in parameters.items()
        if name not in _ELSEWHERE and value is not False and value not in (None, [], ())
    ]


_NEARLY = 0.99
"""Part of a time limit at which a rank has reached it: it starts a little after the first."""
_SHARES = {
    "cpu_share": "CPUs used by ranks",
    "cpu_queue_share": "ranks waited for a CPU",
    "cpu_pressure": "some task waited for a CPU",
    "host_cpu_share": "CPUs busy",
}
"""Shares of the time of a run's first phase, in words."""


def machine_words(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value of each fact of a machine that is short enough."""
    return [
        (_SHARES.get(name, name.removesuffix("_bytes")), _value(name, value))
        for name, value in facts.items()
        if not isinstance(value, dict | list)
    ]


def cut_short(row: RunRow) -> bool:
    """True if a phase ended before all of its operations were done, other than at a time limit that was asked for.

    A row of one operation says nothing of it.
    """
    limit = row.parameters.get("limit_ns")
    at_limit = isinstance(limit, int) and (row.duration_ns or 0) >= _NEARLY * limit
    return row.op is None and not row.complete and not at_limit


def machine_of(rows: Sequence[RunRow]) -> Mapping[str, Any]:
    """Machine in a run's rows; empty if none has it."""
    return next((row.machine for row in rows if row.machine), {})


def _value(name: str, value: Any) -> str:
    if name == "faults" and isinstance(value, Sequence) and not isinstance(value, str):
        text = ", ".join(fault_words(one) for one in value)
    elif name in _SHARES and isinstance(value, int | float):
        text = format_percent(value)
    elif name.endswith("_bytes") and isinstance(value, int):
        text = format_size(value)
    elif name.endswith("_ns") and isinstance(value, int):
        text = format_option(value)
    else:
        text = "yes" if value is True else f"{value:g}" if isinstance(value, float) else str(value)
    return _cut(text, _LONGEST if name != "faults" else 10 * _LONGEST)


def fault_words(fault: Any) -> str:
    """``write@1:+5ms:2s:1s``: a fault in the syntax of ``--fault``; any other value as it is."""
    if not isinstance(fault, Mapping):
        return str(fault)
    inner = fault.get("fault", fault)
    if not isinstance(inner, Mapping):
        return str(fault)
    op, rank = inner.get("op"), fault.get("rank")
    name = "all" if op is None else _SIMPLE.get(op) or str(op).removeprefix("md_")
    words = [name + ("" if rank is None else f"@{rank}"), _kind(inner.get("kind"))]
    after, lasts = inner.get("after_ns"), inner.get("for_ns")
    if after or lasts is not None:
        words.append(format_option(after) if after else "0s")
    if lasts is not None:
        words.append(format_option(lasts))
    return ":".join(words)


def _kind(kind: Any) -> str:
    match kind:
        case {"Delay": int(ns)}:
            return f"+{format_option(ns)}"
        case {"Multiply": int() | float() as factor}:
            return f"x{factor:g}"
        case {"Error": int(number)}:
            return errno.errorcode.get(number, str(number))
        case "Hang":
            return "hang"
    return str(kind)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
