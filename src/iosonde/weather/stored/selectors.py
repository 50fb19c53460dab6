"""Parser for one side of a comparison as people type it: a target, a host, a run, a period.

::

    /work@2026-11-01..2026-11-07     a period of a target          yesterday       a period (with --target)
    /work                            a target (with --since)       login3          a host (with --target)
    4f2c91                           a run, or the beginning of its id
    /mnt/lustre                      the target that is watched there, whatever its name
    target:NAME  host:NAME  run:ID   when a name could be two things; also before @

A name that is known wins over a period, a target over a run over a host, a target's name over a path.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from iosonde.engine.states import read_states
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.names import runs_called, spellings
from iosonde.model.periods import parse_period
from iosonde.weather.samples.periods import Part, RunRef, runs

_KINDS = ("target", "host", "run")


@dataclass(frozen=True)
class StoreNames:
    """Known names of a store."""

    targets: frozenset[str]
    hosts: frozenset[str]
    run_ids: frozenset[str]
    targets_of: Mapping[str, frozenset[str]]
    span_of: Mapping[str, tuple[int, int]]
    """First and last sample of each run (ns)."""
    targets_at: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Watched targets, by path."""


def stored_names(root: Path) -> StoreNames:
    """Names of the targets, hosts and runs of a store. Raises NothingMeasuredError (no samples), StoreError."""
    every = runs(root)
    if not every:
        hint = Advice(Argument("store", "DIR"))
        raise NothingMeasuredError(f"there are no samples in {root}", hint=hint)
    return known_names(every, read_states(root))


def known_names(runs: Iterable[RunRef], states: Iterable[Mapping[str, Any]] = ()) -> StoreNames:
    """Names from the runs of a store, and paths from its states."""
    targets: dict[str, set[str]] = {}
    spans: dict[str, tuple[int, int]] = {}
    hosts = set()
    for run in runs:
        targets.setdefault(run.run_id, set()).add(run.target)
        first, last = spans.get(run.run_id, (run.first_ns, run.last_ns))
        spans[run.run_id] = (min(first, run.first_ns), max(last, run.last_ns))
        hosts.add(run.host)
    measured = set().union(*targets.values())
    at: dict[str, set[str]] = {}
    for state in states:
        if state.get("path") and state.get("target") in measured:
            at.setdefault(state["path"], set()).add(state["target"])
    return StoreNames(
        frozenset(measured),
        frozenset(hosts),
        frozenset(targets),
        {name: frozenset(of_run) for name, of_run in targets.items()},
        spans,
        {path: frozenset(names) for path, names in at.items()},
    )


def select(text: str, known: StoreNames, now_ns: int, zone: tzinfo | None = None) -> Part:
    """Side named by ``text``; ranges of a bare target, host or run stay open. Raises UsageError."""
    parts = select_all(text, known, now_ns, zone)
    if len(parts) > 1:
        ids = [part.run_id for part in parts]
        raise UsageError(
            f"{text.strip()!r} begins {len(ids)} run ids",
            expected="one of " + ", ".join(str(run_id) for run_id in ids[:5]),
        )
    return parts[0]


def select_all(text: str, known: StoreNames, now_ns: int, zone: tzinfo | None = None) -> list[Part]:
    """As ``select``, but a common prefix of several run ids names all of them."""
    word = text.strip()
    left, at, right = word.rpartition("@")
    of_a_kind = left.partition(":")[0] in _KINDS
    if not of_a_kind and (parts := _named(word, known)):
        return parts
    if at:
        since, until = parse_period(right, now_ns, zone)
        parts = _named(left.strip(), known) if left.strip() else [Part()]
        if not parts:
            raise _nothing(left.strip(), known)
        return [replace(part, since_ns=since, until_ns=until) for part in parts]
    try:
        since, until = parse_period(word, now_ns, zone)
    except UsageError as error:
        if ".." in word or word[:1].isdigit() or word.startswith("-"):
            raise
        raise _nothing(word, known) from error
    return [Part(since_ns=since, until_ns=until)]


def _named(word: str, known: StoreNames) -> list[Part]:
    """Target, run or host of this name, or all runs with this id prefix; empty for none."""
    kind, colon, rest = word.partition(":")
    if colon and kind in _KINDS:
        return _of_kind(kind, rest, known)
    if target := _target(word, known):
        return [Part(target=target)]
    if ids := runs_called(word, sorted(known.run_ids)):
        return [Part(run_id=run_id) for run_id in ids]
    return [Part(host=word)] if word in known.hosts else []


def _of_kind(kind: str, name: str, known: StoreNames) -> list[Part]:
    if kind == "run" and (ids := runs_called(name, sorted(known.run_ids))):
        return [Part(run_id=run_id) for run_id in ids]
    if kind == "target" and (target := _target(name, known)):
        return [Part(target=target)]
    if kind == "host" and name in known.hosts:
        return [Part(host=name)]
    names = {"run": known.run_ids, "target": known.targets, "host": known.hosts}[kind]
    raise UsageError(f"there is no {kind} {name!r} in the store", expected=_some(names))


def _target(word: str, known: StoreNames) -> str | None:
    """Target of this name, or watched at this path. Raises UsageError for several."""
    if not word:
        return None
    same = spellings(word)
    for found in (
        {word} & known.targets,
        same & known.targets,
        set().union(*(known.targets_at.get(path, frozenset()) for path in same)),
    ):
        if len(found) > 1:
            raise UsageError(
                f"several targets are watched at {word}", expected=f"one of {_some(found)}"
            )
        if found:
            return next(iter(found))
    return None


def _nothing(word: str, known: StoreNames) -> UsageError:
    every = [*known.targets, *known.hosts, *known.run_ids]
    near = difflib.get_close_matches(word, every, n=1)
    return UsageError(
        f"{word!r} is neither a target, a host or a run of the store nor a period",
        expected=f"one of {_some(known.targets)}, or a period such as yesterday or 2026-11-01..2026-11-07",
        hint=repr(near[0]) if near else "",
    )


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "") or "none"


@dataclass(frozen=True)
class Defaults:
    """Options that complete a side."""

    target: str | None = None
    host: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None


def sides(one: Part, other: Part, options: Defaults, known: StoreNames) -> tuple[Part, Part]:
    """Both sides completed by the options. Raises UsageError for incomparable ones."""
    first, second = (_filled(part, options, known) for part in (one, other))
    if first == second:
        raise UsageError(
            "both sides are the same samples", expected="two periods, targets, hosts or runs"
        )
    _refuse_overlap(first, second, known)
    return first, second


def _filled(part: Part, options: Defaults, known: StoreNames) -> Part:
    if part.since_ns is None and part.run_id is None:
        part = replace(part, since_ns=options.since_ns, until_ns=options.until_ns)
    if part.target is None:
        targets = known.targets if part.run_id is None else known.targets_of[part.run_id]
        part = replace(part, target=options.target or _only(targets))
    return part if part.host else replace(part, host=options.host)


def _only(targets: frozenset[str]) -> str:
    if len(targets) == 1:
        return next(iter(targets))
    raise UsageError(
        "the target is missing",
        expected=Advice(Argument("target"), f" with one of {_some(targets)}"),
    )


def _refuse_overlap(one: Part, other: Part, known: StoreNames) -> None:
    """Refuse a sample on both sides."""
    for name in ("target", "host", "run_id"):
        names = {getattr(one, name), getattr(other, name)} - {None}
        if len(names) > 1:
            return
    spans = [_span(part, known) for part in (one, other)]
    if max(since for since, _ in spans) < min(until for _, until in spans):
        raise UsageError(
            "the two sides overlap: samples would be compared with themselves",
            expected="periods apart from each other",
        )


def _span(part: Part, known: StoreNames) -> tuple[float, float]:
    """Range of due times of a side's samples, [since, until)."""
    since = float("-inf") if part.since_ns is None else float(part.since_ns)
    until = float("inf") if part.until_ns is None else float(part.until_ns)
    if part.run_id is not None:
        first, last = known.span_of[part.run_id]
        since, until = max(since, first), min(until, last + 1)
    return since, until
