"""Probes that ended: which of them still matter, and how one is forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from iosonde.engine.states import remove_files
from iosonde.model.errors import UsageError
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS
from iosonde.weather.slowdown.findings import from_state

AGE_NS = DAY_NS
"""A probe that was stopped longer ago is not mentioned any more."""


def is_stopped(state: dict[str, Any], now_ns: int) -> bool:
    """Whether its probe ended properly: by will, not by a crash."""
    return from_state(state, now_ns).kind == "stopped"


def current(
    states: Sequence[dict[str, Any]], now_ns: int, kept: Collection[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """States that say something about now, in their order.

    A stopped probe does not count where another one watches the same target or path, nor a day after its end, unless
    its host and target are ``kept``. A copy without news for a day counts as stopped.
    """
    ended = [is_stopped(state, now_ns) or _is_old_copy(state, now_ns) for state in states]
    watched = {
        name
        for state, over in zip(states, ended, strict=True)
        if not over
        for name in (state["target"], state["path"])
        if name
    }
    return [
        state
        for state, over in zip(states, ended, strict=True)
        if not over
        or not (
            {state["target"], state["path"]} & watched
            or (_is_old(state, now_ns) and (state["host"], state["target"]) not in kept)
        )
    ]


def _is_old_copy(state: dict[str, Any], now_ns: int) -> bool:
    """Nobody forgets in a bucket: copies of what is no longer shipped age."""
    if state.get("shipped_ns") is None:
        return False
    return _is_old(state, now_ns) and from_state(state, now_ns).kind == "stale"


def _is_old(state: dict[str, Any], now_ns: int) -> bool:
    return now_ns - int(state["written_ns"] or 0) > AGE_NS


def forget(root: Path, states: Iterable[dict[str, Any]], now_ns: int) -> list[Path]:
    """Remove states and baselines of probes that do not run; what was measured stays.

    Raises UsageError: one of them runs.
    """
    chosen = list(states)
    for state in chosen:
        if from_state(state, now_ns).kind not in ("stopped", "stale", "damaged"):
            raise UsageError(
                f"{state['target']} is being probed on {state['host']}",
                expected="a probe that has ended",
                hint="stop it first",
            )
    return remove_files(file for state in chosen for file in files_of(root, state))


def files_of(root: Path, state: dict[str, Any]) -> list[Path]:
    """The state and the baselines of one target of one host."""
    host, name = slug(str(state["host"])), str(state["slug"])
    baselines = (root / "baselines" / host).glob(f"{name}.*ms.baseline*")
    return [root / "state" / host / f"{name}.json", *sorted(baselines)]
