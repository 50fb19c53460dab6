"""Query strings, checked.

A wrong one is a ``RefusalError``, which becomes a 4xx answer that says what was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from datetime import tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from iosonde.model.errors import IosondeError
from iosonde.model.ops import DEFAULT_WINDOW_NS
from iosonde.model.units import format_option

MOST_WINDOWS = 5_000
"""Windows of one answer."""
_LAST_NS = 4_102_444_800_000_000_000
"""2100-01-01: a later instant is a mistake (seconds for nanoseconds, say, the other way round)."""
_LONGEST_NAME = 4096


class RefusalError(IosondeError):
    """A request that cannot be answered as it is. ``status`` is the HTTP status."""

    def __init__(self, what: str, *, expected: str = "", hint: str = "", status: int = 400) -> None:
        super().__init__(what, expected=expected, hint=hint)
        self.status = status


class SeriesRequest(NamedTuple):
    """What ``/api/series`` is asked.

    ``until_ns`` None: up to now. ``points`` False: windows only.
    """

    host: str
    target: str
    since_ns: int
    until_ns: int | None
    window_ns: int
    points: bool


class FeedRequest(NamedTuple):
    """What ``/api/feed`` is asked. Without a target: the targets only."""

    host: str | None
    target: str | None
    after_ns: int | None
    zone: tzinfo | None


def series_request(query: Mapping[str, str], now_ns: int) -> SeriesRequest:
    """The checked parameters of ``/api/series``; by default the last 15 minutes."""
    known(query, ("host", "target", "since_ns", "until_ns", "window_ns", "points"))
    window = DEFAULT_WINDOW_NS
    if "window_ns" in query:
        window = integer("window_ns", query["window_ns"], 1_000_000, 31 * 86_400 * 10**9)
    until = integer("until_ns", query["until_ns"]) if "until_ns" in query else None
    end = now_ns if until is None else until
    since = max(0, end - 900 * 10**9)
    if "since_ns" in query:
        since = integer("since_ns", query["since_ns"])
    if since >= end:
        raise RefusalError(
            f"since_ns {since} is not before until_ns {end}", expected="an instant before the end"
        )
    refuse_many_windows(since, end, window)
    points = query.get("points", "true")
    if points not in ("true", "false"):
        raise RefusalError(f"points is {points!r}", expected="true or false")
    host, target = name(query, "host"), name(query, "target")
    since = since // window * window  # whole windows, and one answer for all who look at them
    return SeriesRequest(host, target, since, until, window, points == "true")


def feed_request(query: Mapping[str, str], last_event_id: str | None) -> FeedRequest:
    """The checked parameters of ``/api/feed``. A reconnecting browser's last event wins."""
    known(query, ("host", "target", "after_ns", "zone"))
    after = integer("after_ns", query["after_ns"]) if "after_ns" in query else None
    if last_event_id:
        after = integer("Last-Event-ID", last_event_id)
    if ("host" in query) != ("target" in query):
        raise RefusalError("only one of host and target is given", expected="both or none")
    host, target = (name(query, "host"), name(query, "target")) if "host" in query else (None, None)
    return FeedRequest(host, target, after, zone(query))


def targets_request(query: Mapping[str, str]) -> tzinfo | None:
    """The checked parameters of ``/api/targets``: the sentences' zone (None: the server's)."""
    known(query, ("zone",))
    return zone(query)


def nothing_asked(query: Mapping[str, str]) -> None:
    """For routes without parameters."""
    known(query, ())


def refuse_many_windows(since: int, end: int, window: int) -> None:
    """Raise RefusalError for a range of more windows than an answer holds."""
    if (end - since) // window > MOST_WINDOWS:
        least = -(-(end - since) // MOST_WINDOWS)
        raise RefusalError(
            f"{(end - since) // window} windows of {format_option(window)} are too many",
            expected=f"at most {MOST_WINDOWS} windows",
            hint=f"window_ns of at least {least}, or a shorter range",
        )


def known(query: Mapping[str, str], names: Collection[str]) -> None:
    """Raise RefusalError for a parameter that is not one of ``names``."""
    for name in query:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            raise RefusalError(
                f"there is no parameter {name[:80]!r}",
                expected=f"one of {', '.join(names)}" if names else "no parameters",
                hint=near[0] if near else "",
            )


def integer(name: str, text: str, least: int = 0, most: int = _LAST_NS) -> int:
    """A parameter as an integer. Raises RefusalError."""
    wanted = f"an integer number of nanoseconds from {least} to {most}"
    # isascii and isdecimal: int() would take other digits, underscores and spaces too.
    if not (text.isascii() and text.isdecimal() and len(text) <= 20):
        raise RefusalError(f"{name} is {text[:80]!r}", expected=wanted)
    if not least <= int(text) <= most:
        raise RefusalError(f"{name} is {text}", expected=wanted)
    return int(text)


def choice(
    query: Mapping[str, str], name: str, choices: tuple[str, ...], default: str | None
) -> str:
    """A parameter that is one of ``choices`` (default None: it must be there). Raises RefusalError."""
    value = query.get(name, default)
    if value not in choices:
        state = "missing" if value is None else repr(value[:80])
        raise RefusalError(f"{name} is {state}", expected="one of " + ", ".join(choices))
    return value


def decimal(
    query: Mapping[str, str], name: str, default: float, limits: tuple[float, float]
) -> float:
    """A parameter as a number within ``limits``. Raises RefusalError."""
    text = query.get(name)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = float("nan")
    if not limits[0] <= value <= limits[1]:
        raise RefusalError(
            f"{name} is {(text or '')[:80]!r}", expected=f"a number from {limits[0]} to {limits[1]}"
        )
    return value


def text(query: Mapping[str, str], name: str, longest: int = 200) -> str:
    """A parameter as it is; "" where it is not given. Raises RefusalError."""
    value = query.get(name, "")
    if len(value) > longest:
        raise RefusalError(f"{name} is too long", expected=f"at most {longest} characters")
    return value


def count(query: Mapping[str, str], name: str, most: int) -> int | None:
    """A parameter as a number from 1 to ``most``; None where it is not given. Raises RefusalError."""
    if name not in query:
        return None
    text = query[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= most):
        raise RefusalError(f"{name} is {text[:80]!r}", expected=f"a number from 1 to {most}")
    return int(text)


def name(query: Mapping[str, str], name: str) -> str:
    """A parameter that must be there. Raises RefusalError."""
    text = query.get(name, "")
    if not text or len(text) > _LONGEST_NAME:
        state = "missing" if not text else "too long"
        raise RefusalError(
            f"the parameter {name} is {state}", expected=f"a {name} as /api/targets lists it"
        )
    return text


def zone(query: Mapping[str, str]) -> tzinfo | None:
    """The parameter ``zone`` (None: the server's). Raises RefusalError."""
    text = query.get("zone")
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):  # a KeyError means that there is none of this name
        raise RefusalError(
            f"there is no time zone {text[:80]!r}", expected="a name such as Europe/Berlin"
        ) from None
