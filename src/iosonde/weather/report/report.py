"""A day or a week of a target, as data: content of a report before drawing and wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.events import SlowEvent
from iosonde.model.frames import (
    EpochChange,
    Frame,
    SlowdownQuery,
    SlowdownResult,
    SlowSpan,
    TargetRef,
    Usual,
)
from iosonde.model.names import host_of_rank
from iosonde.model.verdicts import Unjudged, Verdict
from iosonde.weather.events.events import WatchedTarget, place_of
from iosonde.weather.events.history import Recurrence, recurrence_of
from iosonde.weather.events.judgement import judgement
from iosonde.weather.events.timeline import Happenings, happened
from iosonde.weather.report.heats import WINDOW_NS, Heat, heats
from iosonde.weather.samples.counts import CACHES
from iosonde.weather.series.stretches import stretches, together
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.slowdown import analyse, learned
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats
    from iosonde.weather.events.log import Event


_FEW_WINDOWS = 6


@dataclass(frozen=True)
class OpTotals:
    """Totals of one op of the probe (see ``Store.tally``).

    ``caches``: ok operations by what the client's cache could do.
    """

    op: str
    n_due: int
    n_lost: int
    n_begun: int
    moved_bytes: int
    busy_ns: int
    caches: dict[str, int]


@dataclass(frozen=True)
class Report:
    """Report on one place in [since, until). Ops are in their usual order.

    ``known_ns`` is how much of the range has any sample, in windows of 10 min. ``hit_share``: the
    latest share of reads that a cache answered, by op, where known. ``budget``: limits of the probe
    (bytes_per_s, ops_per_s, cpu_ns_per_s; None = none), None where no state says. ``climate``: what is
    usual at the end of the range / what was usual at first, by op, where both are known; ``changes``:
    lasting changes of what is usual. ``events``: slow events; ``recurrence``: None where nobody looked.
    ``busy_lost``: operations lost in windows that the probing host explains. ``verdict``: of all of the range;
    ``not_judged``: intervals of it that were not judged.
    """

    place: WatchedTarget
    since_ns: int
    until_ns: int
    usual: tuple[Usual, ...]
    spans: tuple[SlowSpan, ...]
    heats: tuple[Heat, ...]
    tallies: tuple[OpTotals, ...]
    known_ns: int
    hit_share: dict[str, float]
    budget: dict[str, Any] | None
    climate: dict[str, float]
    changes: tuple[EpochChange, ...]
    events: tuple[SlowEvent, ...]
    recurrence: Recurrence | None
    busy_lost: int = 0
    verdict: Verdict = Verdict.NOT_JUDGED
    not_judged: tuple[Unjudged, ...] = ()

    @property
    def learned_ns(self) -> int | None:
        """Length of the windows behind the baseline at the end of the range, while it is provisional."""
        young = [one for one in self.not_judged if not one.blind]
        last = [one for one in young if one.end_ns is None or one.end_ns >= self.until_ns]
        return min((one.learned_ns for one in last if one.learned_ns), default=None)

    @property
    def sampled_ns(self) -> int:
        """Part of ``known_ns`` with samples; the rest has only kept windows."""
        due = max((tally.n_due for tally in self.tallies), default=0)
        if self.place.period_ns <= 0:
            return self.known_ns if due else 0
        return min(self.known_ns, due * self.place.period_ns)


def reports(
    store: Store,
    query: SlowdownQuery,
    zone: tzinfo | None = None,
    *,
    now_ns: int | None = None,
    random: np.random.Generator | None = None,
    noted: Sequence[Event] | None = None,
    known: LearntBaselines | None = None,
) -> list[Report]:
    """Reports, one per place, in windows of 10 min; none without data.

    ``query`` has a range with two ends; ``zone`` (None: the system's) decides what an hour is.
    ``now_ns`` (None: the end of the range): what is slow at the end of a range that is over has ended.
    ``random``: for the tests of what comes back; None: nobody looks. ``noted``: what agents logged
    (None: all that the store has). ``known``: what is usual, if that is at hand.
    """
    since, until = query.since_ns, query.until_ns
    if since is None or until is None:
        raise ValueError("a report needs a range with two ends")
    asked = SlowdownQuery(
        *(query.host, query.target, query.ops, since, until, WINDOW_NS),
        trailing_ns=query.trailing_ns,
        rolled=True,
    )
    known = known or learned(store, asked)
    result = analyse(store, asked, known=known)
    at_ns = until if now_ns is None else now_ns
    happenings = happened(store, asked, at_ns, noted, known)
    result = replace(result, spans=together(result.spans, stretches(happenings), asked.ops))
    tallies = store.tally(**asked.which())
    budgets = {(s["host"], s["target"]): s.get("budget") for s in store.states()}
    back = None if random is None else recurrence_of(store, asked, random, zone, known)
    places = dict.fromkeys(place_of(key) for key, _ in result.windows.series())
    found = [
        report
        for place in sorted(places)
        if not _is_short_rank(
            report := _report(place, result, tallies, budgets.get(place[:2]), zone)
        )
    ]
    return [
        _told(
            report, happenings, None if back is None else back.get(report.place, Recurrence((), 0))
        )
        for report in found
    ]


def _told(report: Report, found: Happenings, back: Recurrence | None) -> Report:
    """A report with its events, its verdict, and recurrences."""
    events = found.places.get(report.place, [])
    ref = TargetRef(report.place.host, report.place.target)
    span = (report.since_ns, report.until_ns)
    verdict, missing = judgement(found, ref, span)
    return replace(
        report,
        events=tuple(events),
        recurrence=back,
        verdict=verdict,
        not_judged=tuple(missing),
    )


def _is_short_rank(report: Report) -> bool:
    """True for a benchmark's rank, which ends before a baseline exists: runs pool those."""
    rank = host_of_rank(report.place.host) is not None
    return rank and not any(usual.baseline_ns for usual in report.usual)


def _report(
    place: WatchedTarget,
    result: SlowdownResult,
    tallies: Frame,
    budget: dict[str, Any] | None,
    zone: tzinfo | None,
) -> Report:
    since, until = result.query.since_ns or 0, result.query.until_ns or 0
    windows = {
        key: result.windows.take(rows)
        for key, rows in result.windows.series()
        if place_of(key) == place
    }
    starts = np.unique(np.concatenate([part["start_ns"] for part in windows.values()]))
    tallied = tuple(
        _tally(tallies.take(rows)) for key, rows in tallies.series() if place_of(key) == place
    )
    hits = {
        key.op: _last(part["hit_share"]) for key, part in windows.items() if "hit_share" in part
    }
    climate = {key.op: _last(part["climate"]) for key, part in windows.items()}
    return Report(
        place=place,
        since_ns=since,
        until_ns=until,
        usual=tuple(u for u in result.usual if place_of(u.key) == place),
        spans=tuple(s for s in result.spans if place_of(s.key) == place),
        heats=tuple(heats(windows, (since, until), zone)),
        tallies=tallied,
        known_ns=_known_ns(len(starts), tallied, place.period_ns, until - since),
        hit_share={op: share for op, share in hits.items() if share is not None},
        budget=budget,
        climate={op: now for op, now in climate.items() if now is not None},
        changes=tuple(c for c in result.changes if place_of(c.key) == place),
        events=(),
        recurrence=None,
        busy_lost=sum(_busy_lost(part) for part in windows.values()),
    )


def _known_ns(windows: int, tallies: Sequence[OpTotals], period_ns: int, most_ns: int) -> int:
    """Time of a range with samples: whole windows, or for a few of them the due operations times the period."""
    due = max((tally.n_due for tally in tallies), default=0)
    if windows <= _FEW_WINDOWS and due and period_ns > 0:
        return min(due * period_ns, most_ns)
    return min(windows * WINDOW_NS, most_ns)


def _busy_lost(windows: Frame) -> int:
    busy = windows["host_busy"] & ~np.isnan(windows["lost"])
    return round(float(np.sum(windows["lost"][busy] * windows["n_due"][busy])))


def _last(column: Floats) -> float | None:
    known = column[~np.isnan(column)]
    return float(known[-1]) if len(known) else None


def _tally(row: Frame) -> OpTotals:
    counts = {name: int(row[name][0]) for name in ("n_due", "n_lost", "n_begun", "moved_bytes")}
    caches = {name: int(row[name][0]) for name in CACHES if int(row[name][0])}
    return OpTotals(op=str(row["op"][0]), busy_ns=int(row["busy_ns"][0]), caches=caches, **counts)
