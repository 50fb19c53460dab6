"""Sentences about parts beside their peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.model.ops import op_word
from iosonde.model.units import DAY_NS, HOUR_NS, format_factor, format_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.weather.peers.peers import PeerFinding

_OTHERS = {
    "host": "the other {n} of its host",
    "target": "on the other {n} hosts",
    "parent": "the other {n} of {name}",
}
_BLOCKS = {DAY_NS: "days", HOUR_NS: "hours"}


def say_peer(one: PeerFinding, now_ns: int, zone: tzinfo | None = None) -> str:
    """``reads of disk8 on host_25 take 1.6x as long as on the other 11 of its host (1.4-1.8), on 11 of 14 days``."""
    host, target, op, _ = one.key
    what = f"{op_word(op)} on {target} of {host}"
    others = _OTHERS[one.group.shared].format(n=one.peers, name=one.group.name)
    blocks = _BLOCKS.get(one.block_ns, "spans of 10 min")
    text = f"{what} take {format_factor(one.ratio)}x as long as {others} "
    text += f"({format_factor(one.lower)}-{format_factor(one.upper)}), in {one.slow} of {one.blocks} {blocks}"
    if one.since_ns is not None:
        text += f", since {format_time(one.since_ns, now_ns, zone)}"
    return text


def peer_data(one: PeerFinding, now_ns: int, zone: tzinfo | None = None) -> dict[str, Any]:
    """Plain data for JSON."""
    return {
        "host": one.key.host,
        "target": one.key.target,
        "op": one.key.op,
        "shared": one.group.shared,
        "shared_name": one.group.name,
        "peers": one.peers,
        "ratio": one.ratio,
        "lower": one.lower,
        "upper": one.upper,
        "slow_blocks": one.slow,
        "blocks": one.blocks,
        "block_s": one.block_ns / 1e9,
        "since_ns": one.since_ns,
        "sentence": say_peer(one, now_ns, zone),
    }
