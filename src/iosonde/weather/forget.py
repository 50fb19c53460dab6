"""Removal of states and baselines of retired probes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iosonde.engine.states import remove_files
from iosonde.model.errors import UsageError
from iosonde.model.names import slug
from iosonde.weather.slowdown.findings import from_states, is_live


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
