"""Parser for periods of time as people type them."""

from __future__ import annotations

import re
from datetime import date, timedelta, tzinfo

from iosonde.model.errors import UnitError
from iosonde.model.units import parse_time, to_datetime

_EXPECTED = "a day (2026-11-01, yesterday, today), 2026-W45, 2026-11, or FROM..TO"


def parse_period(text: str, now_ns: int, zone: tzinfo | None = None) -> tuple[int, int]:
    """Read a period; gives [since, until) in ns since the epoch.

    ``FROM..TO`` takes what ``parse_time`` takes; a day as TO counts whole, and ``FROM..`` lasts until
    now. ``today``, ``2026-11-01``, ``2026-W45`` and ``2026-11`` are a day, a week from Monday and a month;
    ``-2h`` is the last two hours. Nothing reaches beyond ``now_ns``. Raises UnitError.
    """
    word = text.strip()
    if ".." in word:
        first, _, last = word.partition("..")
        if not first or ".." in last:
            raise UnitError(f"cannot read the period {text!r}", expected=_EXPECTED)
        since = _begin(first, now_ns, zone)
        until = _end(last, now_ns, zone) if last else now_ns
    else:
        since, until = _whole(word, now_ns, zone)
    if since >= until:
        raise UnitError(f"the period {text!r} ends before it begins", expected=_EXPECTED)
    if since >= now_ns:
        raise UnitError(f"the period {text!r} has not begun", expected="a time that has passed")
    return since, min(until, now_ns)


def _begin(text: str, now_ns: int, zone: tzinfo | None) -> int:
    days = _days(text.strip(), now_ns, zone)
    return _midnight(days[0], now_ns, zone) if days else parse_time(text, now_ns, zone)


def _end(text: str, now_ns: int, zone: tzinfo | None) -> int:
    days = _days(text.strip(), now_ns, zone)
    return _midnight(days[1], now_ns, zone) if days else parse_time(text, now_ns, zone)


def _whole(word: str, now_ns: int, zone: tzinfo | None) -> tuple[int, int]:
    if days := _days(word, now_ns, zone):
        return _midnight(days[0], now_ns, zone), _midnight(days[1], now_ns, zone)
    if re.match(r"-\d", word):
        return parse_time(word, now_ns, zone), now_ns
    raise UnitError(f"cannot read the period {word!r}", expected=_EXPECTED)


def _days(word: str, now_ns: int, zone: tzinfo | None) -> tuple[date, date] | None:
    """First day, and the day after the last; None for a period not in whole days."""
    today = to_datetime(now_ns, zone).date()
    try:
        if word in ("today", "yesterday"):
            first = today - timedelta(days=word == "yesterday")
        elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
            first = date.fromisoformat(word)
        elif match := re.fullmatch(r"(\d{4})-W(\d{2})", word):
            first = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            return first, first + timedelta(days=7)
        elif match := re.fullmatch(r"(\d{4})-(\d{2})", word):
            first = date(int(match[1]), int(match[2]), 1)
            return first, (first + timedelta(days=32)).replace(day=1)
        else:
            return None
        return first, first + timedelta(days=1)
    except (ValueError, OverflowError):
        raise UnitError(f"there is no day {word!r}", expected=_EXPECTED) from None


def _midnight(day: date, now_ns: int, zone: tzinfo | None) -> int:
    return parse_time(f"{day.isoformat()}T00:00", now_ns, zone)
