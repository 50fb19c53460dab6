"""Numbers with a unit for people: a common scale for an axis and its labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_THOUSANDS = ("", "k", "M", "G", "T")
_COUNTED = ("operations", "files", "inodes")
_SMALLEST_SPAN = 1e-300
_LARGEST = 1e30
"""Largest number with a prefix; beyond it, an exponent is used."""


class UnitScale(NamedTuple):
    """A value is shown as ``value / divisor``, followed by ``word``."""

    divisor: float
    word: str


def scale_of(unit: str, values: Iterable[float]) -> UnitScale:
    """Scale for values of a unit of ``model``; ignores values that are not finite.

    The largest one has one to three digits before the point, as far as there are prefixes for its unit.
    """
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    base, slash, per = unit.partition("/")
    per = slash + per
    if base == "bytes":
        power = _power(largest, 1024, len(_BYTES))
        return UnitScale(1024.0**power, _BYTES[power] + per)
    if base == "percent":
        return UnitScale(1.0, "%" + per)
    if base == "ratio":
        return UnitScale(1.0, "")
    if base == "s":
        for limit, divisor, word in ((1e-3, 1e-6, "us"), (1.0, 1e-3, "ms"), (600.0, 1.0, "s")):
            if 0 < largest < limit or (word == "s" and largest < limit):
                return UnitScale(divisor, word + per)
        return UnitScale(60.0, "min" + per) if largest < 36_000 else UnitScale(3600.0, "h" + per)
    power = _power(largest, 1000, len(_THOUSANDS)) if largest >= 10_000 else 0
    word = "" if base in _COUNTED else base
    return UnitScale(1000.0**power, (_THOUSANDS[power] + " " + word).strip() + per)


def _power(largest: float, base: int, n: int) -> int:
    power = 0
    while power + 1 < n and largest >= 1000 and largest < _LARGEST:
        largest /= base
        power += 1
    return power


def digits(value: float) -> str:
    """Three significant digits, without an exponent if possible; ``n/a`` if missing."""
    if not math.isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        return f"{value:.2e}"
    if size >= 99.95:
        return f"{value:.0f}"
    places = min(6, max(0, 2 - math.floor(math.log10(size))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if value == int(value) else text


def amount(value: float, scale: UnitScale) -> str:
    """``14.8 GiB/s``, ``0.81``, ``12.5%``, ``1.58 M``, ``7.6 hops``; ``n/a`` for what is missing."""
    shown = digits(value / scale.divisor)
    word = scale.word
    if shown == "1" and scale.divisor == 1 and word.isalpha() and len(word) > 2:
        word = word.removesuffix("s")
    if shown == "n/a":
        return shown
    return f"{shown}{word}" if word.startswith("%") else f"{shown} {word}".strip()


def linear_ticks(low: float, high: float, most: int = 4) -> tuple[float, ...]:
    """Round values well inside [low, high], one to ``most``; none for an empty or infinite range."""
    span = high - low
    if not (math.isfinite(span) and span > _SMALLEST_SPAN):
        return ()
    inner_low, inner_high = low + 0.08 * span, high - 0.08 * span
    decade = math.floor(math.log10(span))
    for power in (decade - 1, decade, decade + 1):
        for digit in (1.0, 2.0, 5.0):
            step = digit * 10.0**power
            first, last = math.ceil(inner_low / step), math.floor(inner_high / step)
            if last - first < most:
                return tuple(round(k * step, 12 - power) for k in range(first, last + 1))
    return ()


def tick_text(value: float, ticks: tuple[float, ...]) -> str:
    """Fewest digits that distinguish the ticks."""
    if value == 0:
        return "0"
    if len(ticks) == 1:
        return digits(value)
    if max(map(abs, ticks)) >= 1e5 or max(map(abs, ticks)) < 1e-4:
        return f"{value:.1e}"
    for places in range(7):
        texts = {f"{tick:.{places}f}" for tick in ticks}
        exact = all(math.isclose(float(f"{t:.{places}f}"), t, abs_tol=1e-9) for t in ticks)
        if len(texts) == len(ticks) and exact:
            return f"{value:.{places}f}"
    return f"{value:g}"
