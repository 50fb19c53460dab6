"""The rule: the first line of ``RULES`` that holds is the verdict (docs/methods/why.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.why.links import Kind, LinkStanding

if TYPE_CHECKING:
    from collections.abc import Callable

    from iosonde.why.links import Links

SLOW_PEERS = 1.5
"""Peers of a slow component from which on they are slow, too: then it does not explain all of it."""


def _apart(links: Links) -> bool:
    """A component is slower than its peers, and a load explains these."""
    parts, load = links.component.found, links.load.found
    part = parts and parts.precise
    if not part or not load or not (load.culprits or load.together):
        return False
    return load.of_peers and (part.peers_slow or 1.0) >= SLOW_PEERS


def _lasting(links: Links) -> bool:
    """A level that stays and that no job keeps up."""
    load = links.load.found
    return links.change.found is not None and not (load and load.culprits)


def _several(links: Links) -> bool:
    load = links.load.found
    return _apart(links) or (load is not None and len(load.culprits) > 1)


def _alone(links: Links) -> bool:
    """A precise part; or a target alone of several whose load explains nothing."""
    parts = links.component.found
    if parts is None:
        return False
    return parts.precise is not None or links.load.standing is LinkStanding.RULED_OUT


def _everything(links: Links) -> bool:
    """All targets, and all hosts where several watch: what is behind each of them is not the cause."""
    parts, host = links.component.fact, links.host.fact
    if parts is None or not parts.all_slow:
        return False
    return host is None or host.hosts == host.of_hosts


RULES: tuple[tuple[Kind, Callable[[Links], bool]], ...] = (
    (Kind.NOTHING_SLOW, lambda links: links.slowness.found is None),
    (Kind.THIS_HOST, lambda links: links.host.found is not None),
    (Kind.RECURRING, lambda links: links.recurrence.found is not None),
    (Kind.LASTING_CHANGE, _lasting),
    (Kind.SEVERAL, _several),
    (Kind.ONE_JOB, lambda links: bool(links.load.found and links.load.found.culprits)),
    (Kind.EVERYTHING, _everything),
    (Kind.OVERLOAD, lambda links: bool(links.load.found and links.load.found.together)),
    (Kind.SLOW_COMPONENT, _alone),
    (Kind.NO_CAUSE, lambda _: True),
)


def decide(links: Links) -> Kind:
    """The verdict of the links."""
    return next(kind for kind, holds in RULES if holds(links))
