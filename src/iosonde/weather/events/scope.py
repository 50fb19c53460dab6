"""Host or storage: the same target and op from several probing hosts, event by event."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.model.arrays import Floats, Ints
from iosonde.model.events import Witnesses
from iosonde.model.frames import Frame
from iosonde.model.units import DAY_NS
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events.events import by_target
from iosonde.weather.events.scope_test import WindowScope
from iosonde.weather.events.slow_intervals import OpWindows

LOOK_BACK_NS = 14 * DAY_NS
_WORDS = {
    WindowScope.STORAGE: "storage",
    WindowScope.CLIENT: "client",
    WindowScope.NOBODY: "nobody",
    WindowScope.UNDECIDED: "undecided",
}


def scopes(windows: Frame, spans: Sequence[tuple[str, str, int, int]]) -> list[Witnesses]:
    """Who was slow in each of ``spans`` = (target, op, start_ns, end_ns).

    ``windows`` as for ``slow_events``, of every host and of the 14 days before, from which each
    host's usual difference is learnt. Of the windows that could be decided the commonest answer
    counts; fewer than three hosts are undecided.
    """
    return [_seen(windows, *span) for span in spans]


def _seen(windows: Frame, target: str, op: str, start_ns: int, end_ns: int) -> Witnesses:
    since = windows["start_ns"] >= start_ns - LOOK_BACK_NS
    chosen = (windows["target"] == target) & (windows["op"] == op) & since
    rows = windows.take(chosen & (windows["start_ns"] < end_ns))
    series = {ref.host: ops[op] for ref, ops in by_target(rows)}
    hosts = tuple(series)
    starts, typ = _table(series)
    inside = starts >= start_ns
    here = scope.decide(typ[inside], scope.offsets(typ[~inside]))
    decided = here.scope[here.scope != WindowScope.UNDECIDED]
    if len(decided) == 0:
        seen_by = int(np.sum(~np.isnan(typ[inside]).all(axis=0))) if inside.any() else 0
        return Witnesses(target, op, start_ns, end_ns, "undecided", (), seen_by, 0, None)
    answer = WindowScope(int(np.argmax(np.bincount(decided, minlength=len(WindowScope)))))
    often = here.slow[here.scope == answer].mean(axis=0) >= 0.5
    blamed = tuple(host for host, slow in zip(hosts, often, strict=True) if slow)
    shared = here.storage[here.scope == answer]
    return Witnesses(
        target,
        op,
        start_ns,
        end_ns,
        _WORDS[answer],
        blamed if answer in (WindowScope.CLIENT, WindowScope.STORAGE) else (),
        len(hosts),
        len(decided),
        float(np.median(shared)),
    )


def _table(
    series: dict[str, OpWindows],
) -> tuple[Ints, Floats]:
    """Starts, and (windows, hosts) of typ; NaN where a host saw nothing."""
    starts = np.unique(np.concatenate([s.start_ns for s in series.values()] or [np.array([], int)]))
    typ = np.full((len(starts), len(series)), np.nan)
    for column, one in enumerate(series.values()):
        typ[np.searchsorted(starts, one.start_ns), column] = one.typ
    return starts, typ
