"""Answers about probed storage, one function each, for the command line, the page and notebooks.

A door parses what people write, calls one of these and renders what it gets. Light imports only: ``iosonde now`` and
``iosonde check`` run through here, so analysis modules load when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.engine.states import read_states
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.weather.bursts.bursts import RunBursts
    from iosonde.weather.compare.compare import Compared
    from iosonde.weather.compare.words import OpComparison
    from iosonde.weather.ping.watched import Watched
    from iosonde.weather.samples.periods import Part
    from iosonde.weather.selectors import Defaults, StoreNames
    from iosonde.weather.store import Store

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

_STORE_S = 1.0
"""Time limit of a ping for reading the store."""


class Comparison(NamedTuple):
    """Two sides, and a verdict per operation."""

    compared: Compared
    verdicts: list[OpComparison]


def watched(root: Path, path: str, host: str, now_ns: int) -> Watched:
    """Known state of the file system of ``path``. A store that hangs, or is none, gives nothing."""
    from iosonde.host.child import ask
    from iosonde.host.mounts import mount_table
    from iosonde.weather.ping.watched import watched as of_states

    states = ask(lambda note: note.found(states=read_states(root)), _STORE_S).facts.get(
        "states", []
    )
    return of_states(states, mount_table(), path, host, now_ns)


def compare(
    store: Store,
    names: tuple[str, str],
    defaults: Defaults,
    now_ns: int,
    *,
    ops: tuple[str, ...] | None = None,
    margin: float,
    zone: tzinfo | None = None,
) -> Comparison:
    """Compare B with A, both as people write them; ``defaults``: values that they leave open.

    Raises UsageError (a side that is none, or both the same), NothingMeasuredError, StoreError.
    """
    from dataclasses import replace

    from iosonde.weather.compare.compare import compare as compare_sides
    from iosonde.weather.compare.words import judge
    from iosonde.weather.selectors import select, sides

    known = _known(store)
    if defaults.target is not None:
        target = select(f"target:{defaults.target}", known, now_ns).target
        defaults = replace(defaults, target=target)
    a, b = (select(name, known, now_ns, zone) for name in names)
    found = compare_sides(store, *sides(a, b, defaults, known), ops=ops)
    return Comparison(found, judge(found, margin))


def bursts(
    store: Store,
    name: str | None,
    span_ns: Span,
    now_ns: int,
    *,
    ops: tuple[str, ...] | None = None,
    window_ns: int | None = None,
) -> list[RunBursts]:
    """Bursts of every run of a target, run, host or period as people write it.

    ``name``: also how several run ids begin; None: all of the span, of the last day where it is open on both ends.
    Raises UsageError (``name`` is none), NothingMeasuredError, StoreError.
    """
    from dataclasses import replace

    from iosonde.weather.bursts.bursts import bursts as bursts_of

    parts = [replace(part, ops=ops) for part in _parts(_known(store), name, span_ns, now_ns)]
    return [run for part in parts for run in bursts_of(store, part, window_ns)]


def _parts(known: StoreNames, name: str | None, span_ns: Span, now_ns: int) -> list[Part]:
    from dataclasses import replace

    from iosonde.weather.samples.periods import Part
    from iosonde.weather.selectors import select_all

    since, until = span_ns
    if name is None:
        begin = now_ns - DAY_NS if since is None and until is None else since
        return [Part(since_ns=begin, until_ns=until)]
    parts = select_all(name, known, now_ns)
    if parts[0].since_ns is None:
        return [replace(part, since_ns=since, until_ns=until) for part in parts]
    return parts


def _known(store: Store) -> StoreNames:
    """Names of targets, hosts and runs of a store. Raises NothingMeasuredError: it has no samples."""
    from iosonde.weather.samples.periods import runs
    from iosonde.weather.selectors import known_names

    every = runs(store.root)
    if not every:
        hint = Advice(Argument("store", "DIR"))
        raise NothingMeasuredError(f"there are no samples in {store.root}", hint=hint)
    return known_names(every, read_states(store.root))
