"""What happened to a target, as data: slow events, what recurs, and who saw it.

Slowdowns are ratios and shares lie in 0..1; None stands for "not known". Instants are ns since the
epoch (UTC). Sentences about them are written in ``weather.events.words`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpShare:
    """One op's part in a slow event.

    ``start_ns`` to ``end_ns``: when it was slow itself; None where it was not, and then its numbers are of the whole
    event. ``peak`` is the largest median of five windows (of a shorter stretch: of a minute), which began at
    ``peak_ns``; ``share`` how much of the observed time it was at least 1.5 times slower. It is ``affected`` if the
    typical operation was slow. ``tail`` is the largest ratio of 95% quantiles of a window, ``lost`` the share of due
    operations that were late or missing, ``hung_ns`` for how long it hung; ``recovery_ns`` from its last window at half
    the peak to the end. ``lower`` and ``upper``: the 95 % interval of ``median``, which is against ``usual_ns`` (of the
    operation in the middle, when it began). ``hits``: where fewer operations came from a cache than usual, the share
    that did, and the usual one.
    """

    op: str
    median: float | None
    peak: float | None
    tail: float | None
    lost: float | None
    share: float
    affected: bool
    n: int
    peak_ns: int | None = None
    recovery_ns: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    hung_ns: int | None = None
    lower: float | None = None
    upper: float | None = None
    usual_ns: float | None = None
    hits: float | None = None
    hits_usual: float | None = None


@dataclass(frozen=True)
class SlowEvent:
    """A stretch in which operations of one target were slow, seen from one host.

    ``kind``: ``slow`` (the typical operation), ``partly_slow`` (some operations), ``lost`` (late, missing or failed),
    ``hang``, or ``change``: lastingly slower or faster, from ``start_ns`` on, by ``median`` of each op. ``end_ns`` is
    None while it goes on; what is measured then reaches to ``seen_until_ns``. ``op`` is the worst one and first in
    ``ops``: ``peak``, ``peak_ns``, ``median``, ``lost`` and ``recovery_ns`` are its. ``area_s`` is the sum over ops of
    (typ - 1) dt, seconds that operations running all the time have lost. In ``unobserved_ns`` of it nobody looked.
    ``cause``: the detector that saw what windows of a minute did not show. ``unknown_since_ns``: the probe stopped
    then, while it went on: its end is not known.
    """

    host: str
    target: str
    start_ns: int
    end_ns: int | None
    seen_until_ns: int
    peak: float | None
    peak_ns: int | None
    median: float | None
    area_s: float
    recovery_ns: int | None
    n: int
    ops: tuple[OpShare, ...]
    lost: float | None
    unobserved_ns: int
    kind: str = "slow"
    op: str | None = None
    cause: str | None = None
    unknown_since_ns: int | None = None
    period_ns: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether it has not ended, and its probe still runs."""
        return self.end_ns is None and self.unknown_since_ns is None

    def reached_by(self, share: OpShare) -> bool:
        """Whether an op was slow up to the last operation that was seen, of an event without an end.

        Missing data: an op without times of its own lasts as long as the event.
        """
        last = share.end_ns is None or share.end_ns >= self.seen_until_ns
        return self.end_ns is None and last

    def overlaps(self, start_ns: int, end_ns: int | None) -> bool:
        """Whether [start, end) and the event share a moment; ``end_ns`` None = still open.

        An event that goes on reaches past the last operation that was seen.
        """
        return (end_ns is None or self.start_ns < end_ns) and (
            self.goes_on or self.seen_until_ns > start_ns
        )


@dataclass(frozen=True)
class WeekSpan:
    """A named time of the week or day, in whole minutes of a zone's wall clock.

    ``weekday`` 0 is Monday, None means every day; minutes count from that day's 00:00, and
    ``end_min`` may exceed 1440 (Sunday 08:00 after a Saturday is 1920).
    """

    weekday: int | None
    start_min: int
    end_min: int


@dataclass(frozen=True)
class Recurring:
    """Slowness that came back: when, how often of how many times that were observed.

    ``zone`` is the name of the zone in which the weeks agree best. ``slowdown`` is the median of
    the hours that it is about. ``sure`` from four times on.
    """

    host: str
    target: str
    op: str
    period_h: int
    span: WeekSpan
    zone: str
    seen: int
    of: int
    slowdown: float | None
    p_omnibus: float
    p_occupancy: float
    p_events: float
    sure: bool


@dataclass(frozen=True)
class Witnesses:
    """Who was slow in a stretch: ``storage``, ``client`` (``hosts`` are), ``nobody``, ``undecided``.

    ``of`` hosts watched the target; ``windows`` of them decided. ``slowdown`` is what all hosts
    share (None when undecided). ``kind``: slow, lost (operations were late or missing), hang.
    """

    target: str
    op: str
    start_ns: int
    end_ns: int
    scope: str
    hosts: tuple[str, ...]
    of: int
    windows: int
    slowdown: float | None
    kind: str = "slow"
