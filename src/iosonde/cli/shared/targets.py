"""Lookup of targets as people type them, and errors for unanswerable questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from iosonde.cli.shared.options import unwatched, whole_target
from iosonde.engine.states import read_states
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.names import spellings
from iosonde.weather.stored.answers import target_names


def target_called(root: Path, text: str | None) -> str | None:
    """Target of this name or path; an unwatched one stays as it is."""
    if text is None:
        return None
    same, states = spellings(text), read_states(root)
    by_name = [str(state["target"]) for state in states if state["target"] in same]
    by_path = [str(state["target"]) for state in states if state["path"] in same]
    if text in by_name or not (by_name or by_path):
        return text if text in by_name else text.rstrip("/") or "/"
    return (by_name or by_path)[0]


def names_of(
    root: Path, wanted: Iterable[str], states: list[dict[str, Any]], heard: Collection[str]
) -> list[str]:
    """Targets named by name or path, all servers of one. Raises UsageError for an unknown one.

    ``heard``: targets that may have no state any more.
    """
    names: list[str] = []
    for text in wanted:
        same = spellings(text)
        found = [
            str(s["target"]) for s in states if {s["target"], s["path"], whole_target(s)} & same
        ]
        found += sorted(same.intersection(heard))
        found = found or sorted(same.intersection(target_names(root)))
        if not found:
            raise nothing_measured(root, "question", text, heard)
        names += found
    return names


def require_samples(root: Path) -> None:
    """Check that there are samples before reporting that nothing happened. Raises NothingMeasuredError."""
    if not target_names(root):
        raise nothing_measured(root, "question", None)


def nothing_measured(
    root: Path, question: str, target: str | None, heard: Iterable[str] = ()
) -> IosondeError:
    """Error for missing samples: nobody measured, an unwatched target, or no data for the requested time."""
    known = sorted({*target_names(root), *heard})
    if not known:
        return NothingMeasuredError(
            f"there are no samples in {root}",
            expected="a probe that runs or has run",
            hint="'iosonde probe DIR', 'iosonde import FILE', or --store",
        )
    if target is not None and target not in known:
        return unwatched(target, known, some(known))
    return NothingMeasuredError(
        f"there are no samples for this {question} in {root}",
        hint="a longer --since, 'iosonde now' for the targets, or --store",
    )


def some(names: Iterable[str]) -> str:
    """The first of many names."""
    listed = list(names)
    return ", ".join(listed[:_MANY]) + (", ..." if len(listed) > _MANY else "")


_MANY = 8
