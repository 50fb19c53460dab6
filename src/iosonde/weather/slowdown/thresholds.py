"""Threshold ranges of monitoring plugins, and the status that follows from findings.

::

    10       alert outside 0..10          ~:10     alert above 10
    10:      alert below 10               @10:20   alert inside 10..20 (ends included)
    10:20    alert outside 10..20

Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from iosonde.model.errors import UnitError
from iosonde.model.ops import SLOW_AT, SLOW_LOWER_AT
from iosonde.weather.slowdown.findings import Finding, OpVerdict

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
STATUS_NAMES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
_BADNESS = (OK, UNKNOWN, WARNING, CRITICAL)
"""Mildest first: a known problem outweighs not knowing."""
_NUMBER = r"-?\d+(?:\.\d+)?"


class AlertRange(NamedTuple):
    """Alert outside [low, high], or inside when ``inside``."""

    text: str
    low: float
    high: float
    inside: bool = False

    def alerts(self, value: float) -> bool:
        """Whether ``value`` is one to alert for."""
        return (self.low <= value <= self.high) == self.inside


def parse_range(text: str) -> AlertRange:
    """Read a range. Raises UnitError."""
    match = re.fullmatch(rf"(@?)(?:(~|{_NUMBER})?(:))?({_NUMBER})?", text.strip())
    if match and (match[4] or match[2]):
        low = {"~": float("-inf"), None: 0.0}.get(match[2])
        low = float(match[2]) if low is None else low
        high = float(match[4]) if match[4] else float("inf")
        if low <= high:
            return AlertRange(text.strip(), low, high, bool(match[1]))
    raise UnitError(f"cannot read the range {text!r}", expected="10, 10:, ~:10, 10:20 or @10:20")


def status(finding: Finding, warning: AlertRange, critical: AlertRange) -> int:
    """The plugin status of one target.

    hung and failing are critical whatever the ranges say, what is unknown or still learning is
    unknown, and a busy probing host is ok: it says nothing about the storage. Else the worst op
    counts.
    """
    if finding.severity == "hung":
        return CRITICAL
    if finding.severity == "unknown" or finding.kind in ("learning", "few"):
        return UNKNOWN
    levels = [_op_status(op, warning, critical) for op in finding.ops if not op.host_busy]
    return max(levels, default=OK)


def _op_status(op: OpVerdict, warning: AlertRange, critical: AlertRange) -> int:
    if op.partly:
        return WARNING
    least = OK if op.lost is None else WARNING
    if op.slowdown is None:
        return least
    for level, limits in ((CRITICAL, critical), (WARNING, warning)):
        if limits.alerts(op.slowdown) and _is_sure(op, limits):
            return level
    return least


def _is_sure(op: OpVerdict, limits: AlertRange) -> bool:
    """Whether the interval supports an alarm for a value that is too high.

    Its lower end must reach the share of the limit that makes a window slow (1.5 of 2), at most
    1.5.
    """
    if limits.inside or op.lower is None or op.slowdown is None or op.slowdown < limits.low:
        return True
    return op.lower >= min(SLOW_LOWER_AT, limits.high * SLOW_LOWER_AT / SLOW_AT)


def worst(levels: list[int]) -> int:
    """The status of several targets together; UNKNOWN for none."""
    return max(levels, key=_BADNESS.index, default=UNKNOWN)
