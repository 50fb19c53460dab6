"""Judgements of storage in an interval: the verdict, and for intervals that were not judged the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Judgement of a target, op and host in an interval; the worst last."""

    NOT_JUDGED = "not_judged"
    USUAL = "usual"
    HOST_BUSY = "host_busy"
    PARTLY_SLOW = "partly_slow"
    SLOW = "slow"
    LOST = "lost"
    HUNG = "hang"


class Reason(StrEnum):
    """Reason why an interval was not judged."""

    LEARNING = "learning"
    """The baseline rests on less than an hour of samples."""
    FEW_OPERATIONS = "few_operations"
    """A window holds too few operations that ended well for an interval of its typical latency."""
    LONG_STEP = "long_step"
    """Operations follow each other at longer steps than the longest window can judge."""
    NO_PROBE = "no_probe"
    """No operation was due, although the series has operations before or after."""
    DAMAGED = "damaged"
    """A damaged file was left out."""
    OTHER_BASELINE = "other_baseline"
    """The baseline that was asked for has no expectation of this time."""


@dataclass(frozen=True)
class Unjudged:
    """[begin, end) in which nothing was judged, of one series or of several.

    ``target`` None: all targets of the host; ``op`` None: all ops of the target; ``end_ns`` None: it lasts.
    ``learned_ns``: while learning, the length of the windows that a provisional baseline rests on: clear slowdowns
    were found against it; None: nothing was judged but hangs and losses. ``needs_ns``: the length of windows, or of
    history, that a judgement would need; None: unknown, or nothing would help.
    """

    host: str
    target: str | None
    op: str | None
    begin_ns: int
    end_ns: int | None
    reason: Reason
    learned_ns: int | None = None
    needs_ns: int | None = None

    @property
    def blind(self) -> bool:
        """Whether not even clear slowdowns were looked for."""
        return self.learned_ns is None

    def covers(self, host: str, target: str, op: str | None = None) -> bool:
        """Whether it is about a series; ``op`` None: about all ops of the target."""
        mine = self.host == host and self.target in (None, target)
        return mine and (self.op is None or self.op == op)

    def overlap_ns(self, begin_ns: int, end_ns: int) -> int:
        """Time that it shares with [begin, end)."""
        end = end_ns if self.end_ns is None else min(self.end_ns, end_ns)
        return max(0, end - max(self.begin_ns, begin_ns))
