"""Session of a ping, from its first file to the last one's removal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from iosonde.model.errors import MeasureError
from iosonde.weather.ping.child import (
    Away,
    Ended,
    FilePlace,
    Listing,
    Message,
    PingChild,
    PingPlan,
    Refused,
)
from iosonde.weather.ping.verdict import HUNG_NS

_TICK_S = 0.1
_TIDY_S = 1.0
"""Time limit for the removal of files."""


@dataclass
class Heard:
    """State of a ping. ``tidy``: its files are gone; ``away``: the pending call at the end."""

    place: FilePlace | None = None
    listing: Listing | None = None
    ended: list[Ended] = field(default_factory=list)
    away: Away | None = None
    tidy: bool = False


def ping(
    plan: PingPlan,
    duration_ns: int | None,
    hear: Callable[[Message, Heard], None],
    stopped: Callable[[], bool],
) -> Heard:
    """Run ``plan``, until the time limit or until ``stopped``. ``hear`` gets every message as it comes.

    An operation that hangs is told to ``hear`` ten times a second from two seconds on. Raises MeasureError: the
    directory cannot be used.
    """
    heard = Heard()
    began = time.monotonic()
    end = None if duration_ns is None else began + duration_ns / 1e9
    with PingChild(plan) as child:
        while not child.ended and not stopped() and (end is None or time.monotonic() < end):
            heard.away = None
            for message in child.messages(_TICK_S):
                _note(message, heard)
                if not isinstance(message, Away) or message.seconds * 1e9 >= HUNG_NS:
                    hear(message, heard)
        heard.tidy = child.end(_TIDY_S)
    return heard


def _note(message: Message, heard: Heard) -> None:
    match message:
        case Refused():
            raise MeasureError(
                message.text,
                hint="a directory of yours on that file system",
            )
        case FilePlace():
            heard.place = message
        case Listing():
            heard.listing = message
        case Ended():
            heard.ended.append(message)
        case Away():
            heard.away = message
