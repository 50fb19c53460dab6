"""The answer of monitoring plugins: threshold ranges, the code and the line. ``rust/ask`` decides, as for the agent.

::

    10       alert outside 0..10          ~:10     alert above 10
    10:      alert below 10               @10:20   alert inside 10..20 (ends included)
    10:20    alert outside 10..20

Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde import _core
from iosonde.model.errors import UnitError, UsageError

OK, UNKNOWN = 0, 3
"""Codes of plugins; 1 warns, 2 is critical."""


def parse_range(text: str) -> str:
    """A range without blanks around it. Raises UnitError."""
    try:
        return _core.check_ranges(text, None)[0]
    except ValueError as error:
        raise UnitError(str(error)) from None


def ensure_ordered(warning: str | None, critical: str | None) -> None:
    """Raises UsageError: the warning comes after it is critical."""
    try:
        _core.check_ranges(warning, critical)
    except ValueError as error:
        raise UsageError(str(error)) from None


def judged(
    states: Sequence[dict[str, Any]],
    now_ns: int,
    warning: str | None = None,
    critical: str | None = None,
    *,
    verbose: bool = False,
) -> tuple[int, str]:
    """Code and text of one or more states; ranges by the usual ones for None, ``verbose``: with notes."""
    return _core.check_states(list(states), now_ns, warning, critical, verbose)
