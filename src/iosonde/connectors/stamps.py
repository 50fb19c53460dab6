"""Time stamp lines, as people print them between the outputs in a log."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from iosonde.connectors.wall_times import WallTimes
from iosonde.model.units import LATEST_S

_EPOCH = re.compile(r"(?:BEGIN\s+)?(\d{9,11})(?:\.(\d{1,9}))?", re.ASCII)
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+([A-Z][a-z]{2}\s+\d{1,2}\s+\d\d:\d\d:\d\d)(?:\s+(AM|PM))?(?:\s+([A-Z]{2,5}))?\s+"
    r"(\d{4})",
    re.ASCII,
)
_MAIL = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", re.ASCII)


def stamp_of(text: str, clock: WallTimes) -> int | None:
    """Parse a line that is only a time, in ns: ``BEGIN 1790000000``, ``1790000000.25``, output of
    ``date`` (with ``-Is`` or ``-R`` too). Zone names other than UTC are ambiguous: such times are naive.
    """
    text = text.strip()
    if not 9 <= len(text) <= 48 or text[0] not in "0123456789BMTWFS":
        return None
    if match := _EPOCH.fullmatch(text):
        seconds, fraction = int(match[1]), (match[2] or "").ljust(9, "0")
        return seconds * 10**9 + int(fraction) if seconds <= LATEST_S else None
    try:
        moment = _moment(text)
    except ValueError:
        return None
    return None if moment is None else clock.ns(moment)


def _moment(text: str) -> datetime | None:
    """Parse a clock time. Raises ValueError: it looks like a time and is none."""
    if text[:4].isdigit():
        return datetime.fromisoformat(text) if len(text) >= 16 else None
    if _MAIL.fullmatch(text):
        return parsedate_to_datetime(text)
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    half = "%I" if found[2] else "%H"
    plain = f"{' '.join(found[1].split())} {found[4]} {found[2] or ''}".strip()
    form = f"%b %d {half}:%M:%S %Y" + (" %p" if found[2] else "")
    moment = datetime.strptime(plain, form)  # noqa: DTZ007 - its zone is given apart
    return moment.replace(tzinfo=UTC) if found[3] in ("UTC", "GMT") else moment
