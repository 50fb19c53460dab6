"""Retired probes: selection of current states, and removal of old ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from iosonde import _core
from iosonde.engine.states import remove_files
from iosonde.model.errors import UsageError
from iosonde.model.names import slug
from iosonde.weather.slowdown.findings import from_states, is_live


def current(
    states: Sequence[dict[str, Any]], now_ns: int, kept: Collection[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """States that are still relevant, in their order.

    A stopped probe does not count where another one watches the same target or path, nor a day after its end, unless
    its host and target are ``kept``. A copy without news for a day counts as stopped.
    """
    counted = _core.current_states(list(states), now_ns, set(kept))
    return [state for state, counts in zip(states, counted, strict=True) if counts]


def forget(root: Path, states: Iterable[dict[str, Any]], now_ns: int) -> list[Path]:
    """Remove states and baselines of probes that do not run; measurements stay.

    Raises UsageError: one of them runs.
    """
    chosen = list(states)
    for state, finding in zip(chosen, from_states(chosen, now_ns), strict=True):
        if is_live(finding):
            raise UsageError(
                f"{state['target']} is being probed on {state['host']}",
                expected="a probe that has ended",
                hint="stop it first",
            )
    return remove_files(file for state in chosen for file in files_of(root, state))


def files_of(root: Path, state: dict[str, Any]) -> list[Path]:
    """State and baseline files of one target of one host."""
    host, name = slug(str(state["host"])), str(state["slug"])
    baselines = (root / "baselines" / host).glob(f"{name}.*ms.baseline*")
    return [root / "state" / host / f"{name}.json", *sorted(baselines)]
