"""Parser for phases of a benchmark: ``IOREasy 14:05-14:12``, or a CSV file of them."""

from __future__ import annotations

import csv
import io
import re
from datetime import tzinfo
from typing import NamedTuple

from iosonde.model.errors import UnitError
from iosonde.model.text import clean_text
from iosonde.model.units import parse_time

_WANTED = "a name and two times, such as 'IOREasy 14:05-14:12' or 'read 2026-07-01T12:00..2026-07-01T12:30'"
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_MOST = 1000


class Phase(NamedTuple):
    """A named span of time, [start, end), ns since the epoch."""

    name: str
    start_ns: int
    end_ns: int


def parse_phase(text: str, now_ns: int, day_ns: int, zone: tzinfo | None = None) -> Phase:
    """Parse ``IOREasy 14:05-14:12``: times as ``parse_time`` reads them; a clock time is of ``day_ns``'s day.

    The two times have ``-`` or ``..`` between them. Raises UnitError.
    """
    name, _, span = text.strip().rpartition(" ")
    if not name.strip() or not span:
        raise UnitError(f"cannot read the phase {text!r}", expected=_WANTED)
    return _phase(name, _cut(text, span, now_ns, day_ns, zone), text)


def _cut(text: str, span: str, now_ns: int, day_ns: int, zone: tzinfo | None) -> tuple[int, int]:
    """Both times of a span: at ``..``, else at the first ``-`` that leaves a time on either side."""
    places = [(m.start(), m.end()) for m in re.finditer(r"\.\.", span)]
    for begin, end in places or [(m.start(), m.end()) for m in re.finditer("-", span)]:
        try:
            return (
                _time(span[:begin], now_ns, day_ns, zone),
                _time(span[end:], now_ns, day_ns, zone),
            )
        except UnitError:
            continue
    raise UnitError(f"cannot read the times of the phase {text!r}", expected=_WANTED)


def _time(text: str, now_ns: int, day_ns: int, zone: tzinfo | None) -> int:
    clock = re.fullmatch(_CLOCK, text.strip())
    return parse_time(text, day_ns if clock else now_ns, zone)


def _phase(name: str, times: tuple[int, int], text: str) -> Phase:
    start, end = times
    if start >= end:
        raise UnitError(
            f"the phase {text!r} ends before it begins",
            expected="a start before the end",
            hint="dates, if it went over midnight",
        )
    clean = clean_text(name.strip())
    return Phase(clean, start, end)


def read_phases(
    content: str, source: str, now_ns: int, day_ns: int, zone: tzinfo | None = None
) -> list[Phase]:
    """Phases of a CSV text with the columns ``name``, ``start`` and ``end``, in its order.

    ``source`` names it in errors. Raises UnitError with the line.
    """
    reader = csv.DictReader(io.StringIO(content), strict=True)
    phases: list[Phase] = []
    try:
        missing = {"name", "start", "end"} - {(n or "").strip() for n in reader.fieldnames or ()}
        if missing:
            raise UnitError(
                f"{source} has no column {', '.join(sorted(missing))}",
                expected="a first line with name,start,end",
            )
        for row in reader:
            cells = {(k or "").strip(): (v or "").strip() for k, v in row.items() if k}
            where = f"{source}, line {reader.line_num}"
            if not cells.get("name"):
                raise UnitError(f"{where}: no name", expected="name,start,end")
            times = []
            for column in ("start", "end"):
                try:
                    times.append(_time(cells.get(column) or "", now_ns, day_ns, zone))
                except UnitError as error:
                    raise UnitError(f"{where}: {error.what}", expected=error.expected) from None
            phases.append(_phase(cells["name"], (times[0], times[1]), f"{where}: {cells['name']}"))
            if len(phases) > _MOST:
                raise UnitError(f"{where}: more than {_MOST} phases", expected="fewer phases")
    except csv.Error as error:
        raise UnitError(
            f"{source}, line {reader.line_num}: {error}", expected="CSV with name,start,end"
        ) from None
    return phases
