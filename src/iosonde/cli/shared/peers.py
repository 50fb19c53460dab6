"""Lines about parts that are slow beside their peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.cli.shared.text import wrapped
from iosonde.weather.peers.words import say_peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.weather.peers.peers import PeerFinding

_MOST = 8


def print_peers(found: Sequence[PeerFinding], now_ns: int) -> None:
    """A line each, the slowest first, and how many more there are."""
    for one in found[:_MOST]:
        print("\n".join(wrapped(f"{say_peer(one, now_ns)}.")))
    if len(found) > _MOST:
        print(f"{len(found) - _MOST} more beside their peers: --format json has them.")
