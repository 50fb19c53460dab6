"""Parts that are slow beside parts like them: a section of the answers about events, hosts and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.answer import Prose

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.model.frames import SeriesKey
    from iosonde.weather.peers.peers import PeerFinding

_MOST = 8


class PeersAnswer(NamedTuple):
    """Parts that are slow beside their peers, the slowest first; instants in ``zone`` (None: the system's)."""

    found: Sequence[PeerFinding]
    now_ns: int
    zone: tzinfo | None = None

    def sentences(self) -> list[str]:
        """A sentence a part."""
        from iosonde.weather.peers.words import say_peer

        return [say_peer(one, self.now_ns, self.zone) for one in self.found]

    def shown(self) -> list[Block]:
        """Sentences of the slowest parts, and how many more there are."""
        blocks: list[Block] = [Prose(f"{text}.") for text in self.sentences()[:_MOST]]
        if len(self.found) > _MOST:
            more = len(self.found) - _MOST
            blocks.append(f"{more} more beside their peers: --format json has them.")
        return blocks

    def data(self) -> list[dict[str, Any]]:
        """An object a part."""
        from iosonde.weather.peers.words import peer_data

        return [peer_data(one, self.now_ns, self.zone) for one in self.found]


def peers(
    root: Path,
    span_ns: tuple[int | None, int | None],
    now_ns: int,
    targets: Collection[str] = (),
    *,
    windows: Mapping[SeriesKey, int] | None = None,
    zone: tzinfo | None = None,
) -> PeersAnswer:
    """Parts of ``targets`` (none: of all) that are slow beside parts like them.

    A span without a begin has the last ``PEER_SPAN_NS``. ``windows``: length of the windows of every series of the
    span in ns, if that is at hand. Raises StoreError.
    """
    from iosonde.weather.peers.peers import PEER_SPAN_NS, against_peers
    from iosonde.weather.store import Store

    until = now_ns if span_ns[1] is None else span_ns[1]
    since = until - PEER_SPAN_NS if span_ns[0] is None else span_ns[0]
    found = against_peers(Store(root), since, until, None if targets else windows)
    found = [one for one in found if not targets or one.key.target in targets]
    return PeersAnswer(found, now_ns, zone)
