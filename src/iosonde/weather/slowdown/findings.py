"""Verdicts: what a state or a slow span says about a target, as data.

::

    kind       severity   says
    usual      ok         nothing is slow; the slowest op and its slowdown
    learning   info       too few windows to know what is usual
    few        info       too few operations ended well of late to tell
    host_busy  info       slow or begun late, but only because the probing host was busy
    slow       slow       slower than usual, with interval
    lost       slow       made late by the storage, missing or failed now and then
    failing    hung       the last operations failed
    hung       hung       an operation has not come back
    stopped    unknown    the probe ended properly
    stale      unknown    the probe has not been heard of for a while
    damaged    unknown    the state file cannot be read

``rust/ask`` decides, here and for the agent. Light imports only: ``iosonde check`` runs through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde import _core

if TYPE_CHECKING:
    from iosonde.model.frames import SlowSpan

SEVERITIES = _core.SEVERITIES
"""The worst last: a known problem outweighs not knowing."""
CLIMATE_AT = _core.CLIMATE_AT
"""Usual has become slower when it takes this many times what it took at first."""
LOST_AT = _core.LOST_AT
"""From this lower end of the share lost on operations are said to be lost."""
FEWER_HITS = _core.FEWER_HITS
"""Fewer cache hits than this part of the usual ones are told of a slow operation."""
_SILENT = ("stopped", "stale", "damaged")


class OpVerdict(NamedTuple):
    """One operation's share of a finding. Slowdowns are ratios, None when unknown."""

    op: str
    state: str
    slowdown: float | None = None
    lower: float | None = None
    upper: float | None = None
    n: int = 0
    since_ns: int | None = None
    host_busy: bool = False
    outcome: str | None = None
    tail: float | None = None
    """Slowdown of the slowest twentieth."""
    partly: bool = False
    """An alarm lasts though the typical operation is not slow: a part of them is."""
    lost: float | None = None
    """Share of due operations that the storage made late, missing or failed, where it is more than chance explains."""
    late: float | None = None
    """Share of due operations that the probing host alone began late, or never, where it was busy."""
    hits: float | None = None
    """Share of cache hits, where fewer of them are why operations are slow."""
    hits_usual: float | None = None
    """The usual share of hits, beside ``hits``."""
    usual_ns: float | None = None
    """Usual latency, ns."""


class Finding(NamedTuple):
    """A verdict with its evidence.

    ``ops`` are the operations it is about, worst first; ``slowdown lower upper n`` are the first
    one's; ``until_ns`` is None while it lasts.
    """

    kind: str
    severity: str
    host: str
    target: str
    at_ns: int
    """The instant that the verdict is about (ns, UTC)."""
    ops: tuple[OpVerdict, ...] = ()
    slowdown: float | None = None
    lower: float | None = None
    upper: float | None = None
    n: int = 0
    since_ns: int | None = None
    until_ns: int | None = None
    evidence: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**self._asdict(), "ops": [op._asdict() for op in self.ops]}


def from_states(states: Sequence[dict[str, Any]], now_ns: int) -> list[Finding]:
    """The verdict of each live state (``engine.states``) at ``now_ns``, in their order.

    A bad one about a server has ``evidence["usual_beside"]``: which others of its target are as usual, sorted.
    """
    return [
        Finding._make((*row[:_OPS], tuple(map(OpVerdict._make, row[_OPS])), *row[_OPS + 1 :]))
        for row in _core.live_findings(list(states), now_ns)
    ]


_OPS = Finding._fields.index("ops")


def from_state(state: dict[str, Any], now_ns: int) -> Finding:
    """The verdict of one live state, without other servers of its target."""
    return from_states([state], now_ns)[0]


def is_live(finding: Finding) -> bool:
    """Whether it says something about now: its probe runs and writes."""
    return finding.kind not in _SILENT


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """By severity, then slowdown, then name."""
    seen = [(one.severity, one.slowdown, one.host, one.target) for one in findings]
    return [findings[place] for place in _core.worst_first(seen)]


def from_span(span: SlowSpan, now_ns: int) -> Finding:
    """The verdict of one slow span of history."""
    key, factors = span.key, (span.slowdown, span.lower, span.upper)
    op = OpVerdict(
        key.op,
        "slow",
        *factors,
        span.n,
        span.start_ns,
        span.host_busy,
        usual_ns=span.baseline_ns,
    )
    kind, severity = ("host_busy", "info") if span.host_busy else ("slow", "slow")
    evidence = {
        "baseline_ns": span.baseline_ns,
        "median_ns": span.median_ns,
        "windows": span.windows,
        "period_ns": key.period_ns,
        "onset_refined": span.refined,
    }
    if span.unknown_since_ns is not None:
        evidence["unknown_since_ns"] = span.unknown_since_ns
    is_over = not span.ongoing and span.unknown_since_ns is None
    return Finding(
        kind,
        severity,
        key.host,
        key.target,
        now_ns,
        (op,),
        *factors,
        span.n,
        since_ns=span.start_ns,
        until_ns=span.end_ns if is_over else None,
        evidence=evidence,
    )
