"""The answer of ``why`` as JSON: one document for every door."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from iosonde.weather.events.unjudged_words import say_unjudged
from iosonde.weather.peers.words import peer_data
from iosonde.why.evidence import lines, link_lines
from iosonde.why.links import LinkStanding
from iosonde.why.words import say

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.why.evidence import LinkLine
    from iosonde.why.links import Link, LookedAt, Why

SCHEMA_VERSION = 1
NAMES = ("slowness", "recurrence", "component", "load", "host", "change", "remedy")
"""Links, in the order of their lines."""


def why_data(why: Why, now_ns: int, zone: tzinfo | None = None) -> dict[str, Any]:
    """Ratios, shares of 1, ns and seconds; null = not known. ``links``: standing, reason and fact of each."""
    slow = why.links.slowness.found
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": str(why.kind),
        "sentence": say(why, now_ns, zone),
        "evidence": lines(why, now_ns, zone),
        "lines": [_told(why, line) for line in link_lines(why, now_ns, zone)],
        "event": slow.event if slow else None,
        "links": {name: _link(getattr(why.links, name)) for name in NAMES},
        "looked": _looked(why.looked, now_ns, zone),
        "others": list(why.others),
    }


def _looked(looked: LookedAt, now_ns: int, zone: tzinfo | None) -> dict[str, Any]:
    missing = [
        {**asdict(one), "sentence": say_unjudged(one, now_ns, zone)} for one in looked.not_judged
    ]
    beside = [peer_data(one, now_ns, zone) for one in looked.peers]
    plain = _plain(looked._replace(peers=()))
    return {**plain, "learning": list(looked.learning), "not_judged": missing, "peers": beside}


def _told(why: Why, line: LinkLine) -> dict[str, Any]:
    """A line and how its link stands; a line about none stands for itself."""
    link = getattr(why.links, line.link, None)
    standing = str(LinkStanding.FOUND if link is None else link.standing)
    return {"link": line.link, "standing": standing, "text": line.text}


def _link(link: Link[Any]) -> dict[str, Any]:
    return {
        "standing": str(link.standing),
        "reason": None if link.gap is None else str(link.gap),
        "fact": _plain(link.fact),
    }


def _plain(value: Any) -> Any:
    """JSON of a fact: tuples with names as objects, no NaN."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(getattr(value, name)) for name in asdict(value)}
    if hasattr(value, "_asdict"):
        return {name: _plain(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return str(value) if isinstance(value, str) else value
