"""Verdicts: what a state or a slow span says about a target, as data.

::

    kind       severity   says
    usual      ok         nothing is slow; the slowest op and its slowdown
    learning   info       too few windows to know what is usual
    host_busy  info       slow, but only because the probing host was busy
    slow       slow       slower than usual, with interval
    failing    hung       the last operations failed
    hung       hung       an operation has not come back
    stopped    unknown    the probe ended properly
    stale      unknown    the probe has not been heard of for a while
    damaged    unknown    the state file cannot be read

No sentence is written here; see ``findings.sentences``. Light imports only: ``iosonde check`` runs
through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.ops import op_order

if TYPE_CHECKING:
    from iosonde.model.frames import SlowSpan

SEVERITIES = ("ok", "info", "slow", "hung", "unknown")
"""In the order in which they are counted as bad."""
BASELINE_WINDOWS = 5
"""Windows needed before anything is called usual."""
_STALE_NS = 10_000_000_000
_STALE_PERIODS = 5


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


class Finding(NamedTuple):
    """A verdict with its evidence. ``ops`` are the operations it is about, worst first; ``slowdown
    lower upper n`` are the first one's; ``until_ns`` is None while it lasts."""

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


def worst_first(findings: list[Finding]) -> list[Finding]:
    """By severity, then slowdown, then name."""
    return sorted(
        findings,
        key=lambda f: (-SEVERITIES.index(f.severity), -(f.slowdown or 0.0), f.host, f.target),
    )


def from_state(state: dict[str, Any], now_ns: int) -> Finding:
    """The verdict of one live state (``store.state``) at ``now_ns``."""
    host, target = str(state["host"]), str(state["target"])
    if state["state"] == "damaged":
        return Finding(
            "damaged", "unknown", host, target, now_ns, evidence={"error": state["error"]}
        )
    written = int(state["written_ns"])
    heard = {"written_ns": written, "age_ns": max(0, now_ns - written)}
    if not state["running"]:
        return Finding("stopped", "unknown", host, target, now_ns, since_ns=written, evidence=heard)
    if now_ns - written > max(_STALE_NS, _STALE_PERIODS * int(state["period_ns"])):
        return Finding("stale", "unknown", host, target, now_ns, since_ns=written, evidence=heard)
    ops = [_op_verdict(op) for op in state["ops"]]
    for kind, severity in (("hung", "hung"), ("failing", "hung"), ("slow", "slow")):
        bad = [op for op in ops if op.state == kind and not (kind == "slow" and op.host_busy)]
        if bad:
            return _about(kind, severity, host, target, now_ns, bad, heard | _answering(ops, bad))
    busy = [op for op in ops if op.state == "slow"]
    if busy:
        return _about("host_busy", "info", host, target, now_ns, busy, heard)
    known = [op for op in ops if op.slowdown is not None]
    if not known or any(op.state == "learning" for op in ops):
        return Finding(
            "learning", "info", host, target, now_ns, tuple(ops), evidence=heard | _progress(state)
        )
    return _about("usual", "ok", host, target, now_ns, known, heard)


def from_span(span: SlowSpan, now_ns: int) -> Finding:
    """The verdict of one slow span of history."""
    since = span.start_ns
    op = OpVerdict(
        span.key.op, "slow", span.slowdown, span.lower, span.upper, span.n, since, span.host_busy
    )
    kind, severity = ("host_busy", "info") if span.host_busy else ("slow", "slow")
    evidence = {
        "baseline_ns": span.baseline_ns,
        "median_ns": span.median_ns,
        "windows": span.windows,
        "period_ns": span.key.period_ns,
        "onset_refined": span.refined,
    }
    finding = _about(kind, severity, span.key.host, span.key.target, now_ns, [op], evidence)
    return finding._replace(until_ns=None if span.ongoing else span.end_ns)


def _about(
    kind: str,
    severity: str,
    host: str,
    target: str,
    at_ns: int,
    ops: list[OpVerdict],
    evidence: dict[str, Any],
) -> Finding:
    """A finding about ``ops``; the worst of them gives its numbers, the earliest its beginning."""
    ranked = sorted(ops, key=lambda op: (-(op.slowdown or 0.0), op_order(op.op)))
    since = [op.since_ns for op in ranked if op.since_ns is not None]
    worst = ranked[0]
    return Finding(
        kind,
        severity,
        host,
        target,
        at_ns,
        tuple(ranked),
        worst.slowdown,
        worst.lower,
        worst.upper,
        worst.n,
        min(since, default=None),
        None,
        evidence,
    )


def _op_verdict(op: dict[str, Any]) -> OpVerdict:
    since = op["inflight_due_ns"] if op["state"] == "hung" else op["since_ns"]
    return OpVerdict(
        op["op"],
        op["state"] or "learning",
        op["slowdown"],
        op["slowdown_lower"],
        op["slowdown_upper"],
        op["n_seen"],
        since,
        op["host_busy"],
        op["last_outcome"],
    )


def _answering(ops: list[OpVerdict], bad: list[OpVerdict]) -> dict[str, Any]:
    return {
        "answering": [
            op.op for op in ops if op not in bad and op.state in ("ok", "slow", "learning")
        ]
    }


def _progress(state: dict[str, Any]) -> dict[str, Any]:
    known = min((op["baseline_windows"] for op in state["ops"]), default=0)
    return {"windows": min(known, BASELINE_WINDOWS), "windows_needed": BASELINE_WINDOWS}
