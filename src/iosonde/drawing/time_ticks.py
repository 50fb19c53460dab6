"""Labels of a time axis: round local times, never more than fit."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, tzinfo
from itertools import pairwise

from iosonde.model.units import to_datetime

_SECONDS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10_800, 21_600, 43_200),
)
_PARTS_US = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5))
_DAYS = (1, 2, 3, 4, 7, 14)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 600)


def time_ticks(since_s: float, until_s: float, zone: tzinfo | None, most: int) -> list[float]:
    """At most ``most`` instants (s since the epoch) in [since, until], at the finest round step.

    ``zone`` None: the system's. Below two seconds they are parts of one.
    """
    if until_s - since_s < 2:
        return _parts(since_s, until_s, most)
    offset = to_datetime(int(since_s * 1e9), zone).utcoffset()
    ahead = 0.0 if offset is None else offset.total_seconds()
    for step in _SECONDS:
        if (until_s - since_s) / step <= most - 0.01 or step == _SECONDS[-1]:
            first = -(-(since_s + ahead) // step) * step - ahead
            found = [first + k * step for k in range(int((until_s - first) // step) + 1)]
            if len(found) <= most:
                return found
    return _dates(since_s, until_s, zone, most)


def _parts(since_s: float, until_s: float, most: int) -> list[float]:
    """Round fractions of a second, down to the resolution of times since the epoch: microseconds."""
    for step_us in _PARTS_US:
        first = math.ceil(round(since_s * 1e6) / step_us)
        last = math.floor(round(until_s * 1e6) / step_us)
        if last - first < most:
            return [k * step_us / 1e6 for k in range(first, last + 1)]
    return []


def _dates(since_s: float, until_s: float, zone: tzinfo | None, most: int) -> list[float]:
    """Local midnights: every first to fourth day, Mondays, firsts of months."""
    first, last = (to_datetime(int(s * 1e9), zone).date() for s in (since_s, until_s))
    days = [first + timedelta(days=k) for k in range((last - first).days + 1)]
    for step in _DAYS:
        # Weeks begin on Mondays: day 1 of the calendar was one.
        picked = [day for day in days if (day.toordinal() - 1) % step == 0]
        found = _inside(picked, since_s, until_s, zone)
        if len(found) <= most:
            return found
    firsts = [day for day in days if day.day == 1]
    for step in _MONTHS:
        picked = [day for day in firsts if (day.year * 12 + day.month - 1) % step == 0]
        found = _inside(picked, since_s, until_s, zone)
        if len(found) <= most:
            return found
    return []


def _inside(days: list[date], since_s: float, until_s: float, zone: tzinfo | None) -> list[float]:
    midnights = (datetime.combine(day, datetime.min.time()) for day in days)
    aware = (m.astimezone() if zone is None else m.replace(tzinfo=zone) for m in midnights)
    seconds = [moment.timestamp() for moment in aware]
    assert all(a < b for a, b in pairwise(seconds))
    return [s for s in seconds if since_s <= s <= until_s]
