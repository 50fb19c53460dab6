"""Shipping of states: each copy carries its time, so that no reader takes it for live.

::

    state/<host>/<target>.json    the probe's own state and ``shipped_ns``, replaced with each shipment

A copy of a copy keeps the first instant. States without news for a day stay behind; a newer state that a probe itself
writes at the destination stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from iosonde.engine.opener import content
from iosonde.engine.remote.mirror import is_state
from iosonde.engine.states import MAX_BYTES, read_states
from iosonde.host.boots import Boot
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS

_OLD_NS = DAY_NS
"""Age of a state above which it is not sent: nobody would mention it."""
_CLOCKS_NS = 10_000_000_000
"""Largest plausible difference between two machines' clocks."""


class StatePlace(Protocol):
    """Destination of states."""

    def state(self, key: str) -> bytes | None:
        """Existing content; None without any. Raises StoreError, OSError."""

    def replace(self, key: str, content: bytes) -> None:
        """Store a state atomically. Raises StoreError, OSError."""


@dataclass
class ShippedStates:
    """``sent``: number of states; ``damaged``: failures; ``namesakes``: hosts whose name another machine has."""

    sent: int = 0
    damaged: list[str] = field(default_factory=list)
    namesakes: set[str] = field(default_factory=set)


def ship_states(
    root: Path, place: StatePlace, clock: Callable[[], int], boot: Boot | None
) -> ShippedStates:
    """Send the states of a store; ``clock``: ns, UTC; ``boot``: of this machine.

    Raises StoreError, OSError: the destination refuses.
    """
    done = ShippedStates()
    for state in read_states(root):
        if state["state"] == "damaged":
            done.damaged.append(f"state not sent: {state['error']}")
            continue
        key = f"state/{slug(str(state['host']))}/{state['slug']}.json"
        copy = _object(_content(root / key))
        if copy is None or not is_state(key) or clock() - int(state["written_ns"]) > _OLD_NS:
            continue
        there = _object(place.state(key))
        if there is not None and _is_newer(there, state):
            continue
        if there is not None and (seen_ns := _namesake_ns(there, state, boot)) is not None:
            done.namesakes.add(str(state["host"]))
            copy["namesake_ns"] = seen_ns
        copy.setdefault("shipped_ns", clock())
        place.replace(key, json.dumps(copy).encode())
        done.sent += 1
    return done


def _is_newer(there: dict[str, Any], state: dict[str, Any]) -> bool:
    """True if a probe writes there itself, and has written since. A copy may have any clock's time."""
    written = there.get("written_ns")
    return "shipped_ns" not in there and isinstance(written, int) and written >= state["written_ns"]


def _namesake_ns(there: dict[str, Any], state: dict[str, Any], boot: Boot | None) -> int | None:
    """Time at which another machine wrote the existing state, if after this one's start."""
    written, other = there.get("written_ns"), there.get("boot_id")
    if boot is None or state["boot_id"] != boot.boot_id or not isinstance(written, int):
        return None
    is_other = isinstance(other, str) and other not in ("", boot.boot_id)
    return written if is_other and written > boot.started_ns + _CLOCKS_NS else None


def _content(path: Path) -> bytes | None:
    try:
        return content(path, MAX_BYTES)
    except FileNotFoundError:
        return None


def _object(content: bytes | None) -> dict[str, Any] | None:
    """Parse a state; None if malformed."""
    if content is None or len(content) > MAX_BYTES:
        return None
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None
