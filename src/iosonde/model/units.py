"""Sizes, durations and instants: parsers and formatters for people.

Durations are integer nanoseconds, sizes integer bytes, instants integer nanoseconds since the Unix
epoch (UTC). Nothing is rounded on the way in: ``1.5KiB`` is 1536, ``0.5`` bytes is an error.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction

from iosonde.model.errors import UnitError

MINUTE_NS = 60_000_000_000
HOUR_NS = 60 * MINUTE_NS
DAY_NS = 24 * HOUR_NS
LATEST_S = 7_258_118_400
"""2200: later times in a file are errors."""

_DURATION_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": HOUR_NS,
    "d": DAY_NS,
    "w": 604_800_000_000_000,
}
_NUMBER = r"((?:[0-9]+\.?[0-9]*)|(?:\.[0-9]+))"
_DURATION_PART = rf"{_NUMBER}({'|'.join(sorted(_DURATION_NS, key=len, reverse=True))})"
_LARGEST, _MOST_DIGITS = 2**63, 40
_PREFIXES = "kmgtp"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _scaled(number: str, unit: int, text: str, what: str) -> int:
    """``number * unit`` in integers; raises for a remainder, and for more than 64 bits."""
    value = Decimal(number)
    if value and not -_MOST_DIGITS < value.adjusted() < _MOST_DIGITS:
        raise UnitError(f"{text!r} is not a possible number of {what}")
    whole = Fraction(value) * unit
    if whole.denominator != 1 or whole >= _LARGEST:
        raise UnitError(f"{text!r} is not a whole number of {what}")
    return int(whole)


def parse_duration(text: str) -> int:
    """``1s``, ``500ms``, ``2h30m``, ``7d``, ``1w`` -> ns, by the grammar of ``rust/core/src/units.rs``.

    A bare number counts seconds; ``m`` and ``min`` are minutes.
    """
    wanted = "a duration such as 500ms, 1s, 2h30m or 7d"
    compact = text.strip()
    if bare := re.fullmatch(rf"\+?({_NUMBER}(?:[eE][+-]?[0-9]+)?)", compact):
        return _scaled(bare[1], 1_000_000_000, text, "nanoseconds")
    if not compact or not re.fullmatch(rf"(?:{_DURATION_PART})+", compact):
        raise UnitError(f"cannot read the duration {text!r}", expected=wanted)
    parts = re.finditer(_DURATION_PART, compact)
    return sum(_scaled(part[1], _DURATION_NS[part[2]], text, "nanoseconds") for part in parts)


def parse_size(text: str) -> int:
    """``1M``, ``1MiB`` (1024-based), ``1MB`` (1000-based), ``4096`` -> bytes, by the grammar of the core.

    ``1mi`` is refused: too easily misread.
    """
    wanted = "bytes such as 4096, 64k, 1MiB (1024-based) or 1MB (1000-based)"
    match = re.fullmatch(rf"{_NUMBER}\s*([a-zA-Z]*)", text.strip().replace("_", ""))
    if not match:
        raise UnitError(f"cannot read the size {text!r}", expected=wanted)
    unit = _size_unit(match[2])
    if unit is None:
        near = f"{match[2][:1].upper()}iB" if match[2][:1].lower() in _PREFIXES else "MiB"
        raise UnitError(f"cannot read the size {text!r}", expected=wanted, hint=f"{match[1]}{near}")
    return _scaled(match[1], unit, text, "bytes")


def _size_unit(suffix: str) -> int | None:
    """Bytes of a unit suffix, None if it is not one."""
    if suffix in ("", "B", "b"):
        return 1
    power = _PREFIXES.find(suffix[0].lower()) + 1
    if power == 0:
        return None
    if len(suffix) == 1 or suffix[1:] == "iB":
        return int(1024**power)
    return int(1000**power) if suffix[1:] == "B" else None


def _digits(value: float) -> str:
    """Three significant digits without an exponent, for 1 <= value < 10000."""
    magnitude = len(str(int(abs(value))))
    return f"{value:.{max(0, 3 - magnitude)}f}"


def format_duration(ns: float | None) -> str:
    """``412 ms``, ``1.20 s``, ``2 h 30 min``: three digits and a unit; ``n/a`` when unknown."""
    if ns is None or math.isnan(ns):
        return "n/a"
    if ns < 0:
        return "-" + format_duration(-ns)
    if ns >= 120e9:
        return _format_long(int(ns // 1_000_000_000))
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if unit == "s" or float(f"{ns / size:.3g}") < 1000:
            break
    value = ns / size
    return f"{value:.0f} ns" if unit == "ns" else f"{_digits(float(f'{value:.3g}'))} {unit}"


def format_seconds(ns: float) -> str:
    """An age in whole seconds: ``0 s``, ``12 s``, ``2 min 5 s``."""
    seconds = int(ns // 1_000_000_000)
    return _format_long(seconds) if seconds >= 120 else f"{seconds} s"


def about_length(ns: float) -> str:
    """A length of time in one number: ``45 s``, ``41 min``, ``2.5 h``, ``18 h``, ``3.2 d``."""
    if ns < 120e9:
        return f"{ns / 1e9:.0f} s"
    if ns < 7_200e9:
        return f"{ns / 60e9:.0f} min"
    unit, size = ("h", 3_600e9) if ns < 2 * DAY_NS else ("d", DAY_NS)
    value = f"{ns / size:.1f}" if ns < 9.95 * size else f"{ns / size:.0f}"
    return f"{value.removesuffix('.0')} {unit}"


def _format_long(seconds: int) -> str:
    """Two of d, h, min, s."""
    parts = [
        (seconds // 86_400, "d"),
        (seconds // 3_600 % 24, "h"),
        (seconds // 60 % 60, "min"),
        (seconds % 60, "s"),
    ]
    first = next(i for i, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count)


def format_size(size: float) -> str:
    """``512 B``, ``1.50 KiB``, ``12.3 GiB``: three digits and a 1024-based unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{_digits(float(f'{size:.3g}'))} {unit}"
        size /= 1024
    return f"{_digits(float(f'{size:.3g}'))} TiB" if size < 9999 else f"{size:.0f} TiB"


def format_option(ns: int) -> str:
    """Shortest text that ``parse_duration`` reads back exactly: ``60s`` -> ``1m``."""
    for unit in ("d", "h", "m", "s", "ms", "us"):
        if ns and ns % _DURATION_NS[unit] == 0:
            return f"{ns // _DURATION_NS[unit]}{unit}"
    return f"{ns}ns"


def format_count(n: float, digits: int = 0) -> str:
    """A number of things, with commas between thousands: ``87``, ``69,441``; ``digits`` after the point."""
    return f"{n:,.{digits}f}"


def format_percent(share: float) -> str:
    """A share of 1: ``36%``, ``2.5%``, ``0.02%``, ``0%``; ``n/a`` if unknown."""
    if math.isnan(share):
        return "n/a"
    percent = 100 * share
    return f"{percent:.2g}%" if abs(percent) < 9.95 else f"{percent:.0f}%"


def format_factor(value: float | None) -> str:
    """A slowdown without its ``x``: ``1.1``, ``3.1``, ``27``, ``n/a``."""
    if value is None or math.isnan(value):
        return "n/a"
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def format_waiting_factor(value: float) -> str:
    """A waiting factor: ``0``, ``1/16``, ``0.3``, ``4``."""
    parts = 1 / value if 0 < value < 1 else 0.0
    return f"1/{parts:.0f}" if parts and parts == round(parts) else f"{value:g}"


def format_slowdown(slowdown: float | None, lower: float | None, upper: float | None) -> str:
    """``3.1x (2.8-3.4)``; ``n/a`` without a number."""
    if slowdown is None:
        return "n/a"
    if lower is None or upper is None:
        return f"{format_factor(slowdown)}x"
    return f"{format_factor(slowdown)}x ({format_factor(lower)}-{format_factor(upper)})"


def to_ns(moment: datetime) -> int:
    """An aware datetime as ns since the epoch, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1_000


def to_datetime(ns: int, zone: tzinfo | None = None) -> datetime:
    """An instant in ``zone`` (None: the system's local zone), cut to microseconds."""
    return (_EPOCH + timedelta(microseconds=ns // 1_000)).astimezone(zone)


def parse_time(text: str, now_ns: int, zone: tzinfo | None = None) -> int:
    """Read a time: ``-2h``, ``now``, ``yesterday``, ``14:05``, ISO 8601, ``@<seconds>``.

    Gives ns since the epoch; ``-2h`` counts back from ``now_ns``. Times without an offset are in
    ``zone`` (None: the system's local zone).
    """
    word = text.strip()
    if word.startswith(("-", "+")):
        sign = -1 if word[0] == "-" else 1
        return now_ns + sign * parse_duration(word[1:])
    if word == "now":
        return now_ns
    if re.fullmatch(r"@\d+(?:\.\d{1,9})?", word):
        return _scaled(word[1:], 1_000_000_000, text, "nanoseconds")
    today = to_datetime(now_ns, zone).date()
    days = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if word in days:
        return _local_ns(
            datetime.combine(today + timedelta(days=days[word]), datetime.min.time()), zone
        )
    return _parse_iso(text, word, today, zone)


def _parse_iso(text: str, word: str, today: date, zone: tzinfo | None) -> int:
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?", word):
        word = f"{today.isoformat()}T{word.zfill(5) if word.count(':') == 1 else word.zfill(8)}"
    try:
        moment = datetime.fromisoformat(word)
        return to_ns(moment) if moment.tzinfo else _local_ns(moment, zone)
    except (ValueError, OverflowError):
        raise UnitError(
            f"cannot read the time {text!r}",
            expected="-2h, yesterday, 14:05 or 2026-07-01T12:00",
        ) from None


def _local_ns(moment: datetime, zone: tzinfo | None) -> int:
    return to_ns(moment.astimezone() if zone is None else moment.replace(tzinfo=zone))


def format_time(ns: int, now_ns: int, zone: tzinfo | None = None, *, seconds: bool = False) -> str:
    """``14:05`` (with ``seconds``: ``14:05:03``), preceded by the date unless today."""
    moment, now = to_datetime(ns, zone), to_datetime(now_ns, zone)
    clock = moment.strftime("%H:%M:%S" if seconds else "%H:%M")
    return clock if moment.date() == now.date() else f"{moment:%Y-%m-%d} {clock}"


def format_span(
    begin_ns: int, end_ns: int, now_ns: int, zone: tzinfo | None = None, *, seconds: bool = False
) -> str:
    """``14:05 to 14:10``; with a date unless today, with two if they differ."""
    begin, end, now = (to_datetime(ns, zone) for ns in (begin_ns, end_ns, now_ns))
    since = format_time(begin_ns, now_ns, zone, seconds=seconds)
    clock = end.strftime("%H:%M:%S" if seconds else "%H:%M")
    if begin.date() == end.date():
        return since if since.endswith(clock) else f"{since} to {clock}"
    if begin.date() != now.date() or end.date() != now.date():
        since = f"{begin:%Y-%m-%d} {begin.strftime('%H:%M:%S' if seconds else '%H:%M')}"
    return f"{since} to {end:%Y-%m-%d} {clock}"


def iso_time(ns: int, zone: tzinfo | None = None) -> str:
    """``2026-10-05T14:05:00.000+02:00``; ``zone`` None: the machine's."""
    return to_datetime(ns, zone).isoformat(timespec="milliseconds")


def day(ns: int, zone: tzinfo | None = UTC) -> str:
    """``2017-08-04``."""
    return f"{to_datetime(ns, zone):%Y-%m-%d}"
