"""Conversion of users' arguments: paths, times, durations, zones, operations. Errors speak Python."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from iosonde.model.advice import Action, Argument, command_line, spelled
from iosonde.model.errors import IosondeError, UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.ops import parse_op
from iosonde.model.units import parse_duration, parse_time, to_ns

if TYPE_CHECKING:
    import numpy as np

    Instant = str | int | date | np.datetime64 | None
    """Text as the commands take it (``-2h``, ``2026-07-01T12:00``; UTC unless it says a zone), a datetime or
    Timestamp (naive: UTC), a numpy instant, or ns since the epoch."""
    Duration = str | int | timedelta | np.timedelta64
    """``60s``, a timedelta, or ns."""

P = ParamSpec("P")
T = TypeVar("T")
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Mappings = Paths | Mapping[str, Any] | Sequence[str | os.PathLike[str] | Mapping[str, Any]]
Zone = str | tzinfo | None
_ACTIONS = {
    "import": ".import_files()",
    "jobs": ".jobs()",
    "now": ".targets()",
    "slowdown": ".slowdown()",
    "table": "iosonde.read_jobs()",
}
"""Equivalents in Python of shell commands."""


def in_python(call: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that its errors name Python arguments: ``mapping=FILE``, not ``--mapping FILE``."""

    @functools.wraps(call)
    def through(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except IosondeError as error:
            error.expected = spelled(error.expected, python)
            error.hint = spelled(error.hint, python)
            raise

    return through


def python(part: Argument | Action) -> str:
    """``mapping=FILE``, ``.import_files()``."""
    if isinstance(part, Argument):
        return (
            f"iosonde.open({part.value})" if part.name == "store" else f"{part.name}={part.value}"
        )
    return _ACTIONS.get(part.name) or command_line(part)


def paths_of(given: Paths) -> list[Path]:
    """Paths from one or several; expands ``~`` and ``*``. Raises UsageError: a pattern without a match."""
    several = [given] if isinstance(given, str | os.PathLike) else given
    return [path for one in several for path in _expanded(Path(one).expanduser())]


def _expanded(path: Path) -> list[Path]:
    if path.exists() or not any(sign in str(path) for sign in "*?["):
        return [path]
    found = sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    if not found:
        raise UsageError(f"there is no file {path}", expected="a pattern that fits some")
    return found


def names_of(given: str | Sequence[str] | None) -> list[str] | None:
    """List of one or several names; None stays."""
    return None if given is None else [given] if isinstance(given, str) else list(given)


def ops_of(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Parse operations as people call them. Raises UsageError."""
    names = names_of(given)
    return None if names is None else tuple(parse_op(name) for name in names)


def zone_of(given: Zone) -> tzinfo | None:
    """A time zone by its name. Raises UsageError: no such zone."""
    if not isinstance(given, str):
        return given
    if given == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"{given!r} is no time zone", expected="one such as Europe/Berlin or UTC"
        ) from error


def now_ns() -> int:
    """Read the wall clock: this is an outermost layer."""
    return time.time_ns()


def instant(given: Instant) -> int | None:
    """An instant as ns since the epoch (UTC); None stays. Raises UsageError."""
    if given is None:
        return None
    if isinstance(given, str):
        return parse_time(given, now_ns(), UTC)
    found = _number(given)
    if found is None or found == NULL_NS:
        raise UsageError(
            f"{given!r} is no time", expected="2026-07-01T12:00, -2h, a datetime, or ns (int)"
        )
    return found


def _number(given: Any) -> int | None:
    """A non-text instant in ns; None if it is none, ``NULL_NS`` if missing."""
    import numpy as np

    if isinstance(given, datetime):
        exact = getattr(
            given, "value", None
        )  # a Timestamp of pandas knows ns; naive it is UTC, too
        return int(exact) if exact is not None else to_ns(_aware(given))
    if isinstance(given, date):
        return to_ns(datetime(given.year, given.month, given.day, tzinfo=UTC))
    if isinstance(given, np.datetime64):
        return int(given.astype("datetime64[ns]").astype(np.int64))
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    return int(given) if whole else None


def _aware(given: datetime) -> datetime:
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def span(begin: Instant, end: Instant) -> tuple[int | None, int | None]:
    """Convert both ends, None = open. Raises UsageError: not a time, or the wrong way round."""
    first, last = instant(begin), instant(end)
    if first is not None and last is not None and first >= last:
        raise UsageError(f"{begin} is not before {end}")
    return first, last


def duration(given: Duration) -> int:
    """A duration in ns. Raises UsageError."""
    import numpy as np

    if isinstance(given, str):
        return parse_duration(given)
    if isinstance(given, timedelta):
        return given // timedelta(microseconds=1) * 1_000
    if isinstance(given, np.timedelta64):
        return int(given.astype("timedelta64[ns]").astype(np.int64))
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise UsageError(f"{given!r} is no duration", expected="60s, a timedelta, or ns (int)")
    return int(given)
