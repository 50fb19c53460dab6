"""Verdicts: what a state or a slow span says about a target, as data.

::

    kind       severity   says
    usual      ok         nothing is slow; the slowest op and its slowdown
    learning   info       too few windows to know what is usual
    few        info       too few operations ended well of late to tell
    host_busy  info       slow, but only because the probing host was busy
    slow       slow       slower than usual, with interval
    lost       slow       late, missing or failed now and then
    failing    hung       the last operations failed
    hung       hung       an operation has not come back
    stopped    unknown    the probe ended properly
    stale      unknown    the probe has not been heard of for a while
    damaged    unknown    the state file cannot be read

No sentence is written here; see ``weather.slowdown.words``. Light imports only: ``iosonde check`` runs
through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.ops import op_order

if TYPE_CHECKING:
    from iosonde.model.frames import SlowSpan

SEVERITIES = ("ok", "info", "unknown", "slow", "hung")
"""The worst last: a known problem outweighs not knowing."""
BASELINE_WINDOWS = 5
"""Windows needed before anything is called usual."""
CLIMATE_AT = 1.25
"""Usual has become slower when it takes this many times what it took at first."""
LOST_AT = 0.05
"""From this lower end of the share lost on operations are said to be lost."""
_COMING_BACK = ("ok", "slow", "learning")
_STALE_NS = 10_000_000_000
_STALE_PERIODS = 5
_SHIPPED_NS = 7_200_000_000_000
"""A copy of a state speaks for so long: two shipments, an hour apart."""


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
    """Share of due operations that were late, missing or failed, where it is more than chance explains."""


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


def worst_first(findings: list[Finding]) -> list[Finding]:
    """By severity, then slowdown, then name."""
    return sorted(
        findings,
        key=lambda f: (-SEVERITIES.index(f.severity), -(f.slowdown or 0.0), f.host, f.target),
    )


def from_state(state: dict[str, Any], now_ns: int) -> Finding:
    """The verdict of one live state (``engine.states``) at ``now_ns``."""
    head = Finding("usual", "ok", str(state["host"]), str(state["target"]), now_ns)
    if component := state.get("component"):
        head = head._replace(evidence={"component": component})
    if (unheard := _unheard(head, state)) is not None:
        return unheard
    head = head._replace(evidence={**head.evidence, "written_ns": state["written_ns"]})
    if state.get("shipped_ns") is not None:
        age_ns = _age_ns(state, now_ns)
        copied = {"shipped_ns": state["shipped_ns"], "age_ns": age_ns}
        head = head._replace(at_ns=state["written_ns"], evidence=head.evidence | copied)
    ops = [_op_verdict(op) for op in state["ops"]]
    head = head._replace(evidence={**head.evidence, **_learnt(state)})
    for kind in ("hung", "failing"):
        if bad := [op for op in ops if op.state == kind]:
            head = head._replace(kind=kind, severity="hung")
            return _about(head, bad, answering=_answering(ops, bad), waits_in=_waits_in(state, bad))
    slow = [op for op in ops if op.state == "slow" and not op.host_busy]
    lossy = [op for op in ops if op.lost is not None and op not in slow]
    if slow or lossy:
        head = head._replace(kind="slow" if slow else "lost", severity="slow")
        return _about(head, [*slow, *lossy])
    if busy := [op for op in ops if op.state == "slow"]:
        return _about(head._replace(kind="host_busy", severity="info"), busy)
    if known := [op for op in ops if op.slowdown is not None]:
        return _about(head, known, **_climate(state))
    progress = _progress(state)
    learnt = progress["windows"] >= progress["windows_needed"]
    head = head._replace(kind="few" if learnt else "learning", severity="info", ops=tuple(ops))
    return head._replace(evidence={**head.evidence, **progress})


def _unheard(head: Finding, state: dict[str, Any]) -> Finding | None:
    """The finding for a state that says nothing about now."""
    if state["state"] == "damaged":
        evidence = {"error": state["error"]}
        return head._replace(kind="damaged", severity="unknown", evidence=evidence)
    written = int(state["written_ns"])
    age = max(0, head.at_ns - written)
    stale = is_stale(state, head.at_ns)
    if state["running"] and not stale:
        return None
    return head._replace(
        kind="stale" if state["running"] else "stopped",
        severity="unknown",
        since_ns=written,
        evidence={**head.evidence, "written_ns": written, "age_ns": age},
    )


def is_stale(state: dict[str, Any], now_ns: int) -> bool:
    """Whether a state was written too long ago to say anything about now."""
    if state["written_ns"] is None or state["period_ns"] is None:
        return True
    age, patience = _age_ns(state, now_ns), _patience_ns(state)
    shipped = state.get("shipped_ns")
    if shipped is None:
        return age is None or age > patience
    # A copy tells nothing of a probe that was silent when it was made.
    silent = abs(int(shipped) - int(state["written_ns"])) > patience
    return silent or age is None or age > _SHIPPED_NS


def _patience_ns(state: dict[str, Any]) -> int:
    return max(_STALE_NS, _STALE_PERIODS * int(state["period_ns"]))


def _age_ns(state: dict[str, Any], now_ns: int) -> int | None:
    """Since a state was written. A clock that is ahead: the file's own time tells, else nothing does."""
    age = now_ns - int(state["written_ns"])
    if age >= -_patience_ns(state):
        return max(0, age)
    heard = state.get("heard_ns")
    return None if heard is None else abs(now_ns - int(heard))


def from_span(span: SlowSpan, now_ns: int) -> Finding:
    """The verdict of one slow span of history."""
    key, factors = span.key, (span.slowdown, span.lower, span.upper)
    op = OpVerdict(key.op, "slow", *factors, span.n, span.start_ns, span.host_busy)
    kind, severity = ("host_busy", "info") if span.host_busy else ("slow", "slow")
    return _about(
        Finding(kind, severity, key.host, key.target, now_ns),
        [op],
        baseline_ns=span.baseline_ns,
        median_ns=span.median_ns,
        windows=span.windows,
        period_ns=key.period_ns,
        onset_refined=span.refined,
        **({} if span.unknown_since_ns is None else {"unknown_since_ns": span.unknown_since_ns}),
    )._replace(until_ns=None if span.ongoing or span.unknown_since_ns is not None else span.end_ns)


def _about(head: Finding, ops: list[OpVerdict], **evidence: Any) -> Finding:
    """``head`` about ``ops``: the worst gives its numbers, the earliest its beginning."""
    ranked = sorted(ops, key=_rank)
    since = [op.since_ns for op in ranked if op.since_ns is not None]
    worst = ranked[0]
    return head._replace(
        ops=tuple(ranked),
        slowdown=worst.slowdown,
        lower=worst.lower,
        upper=worst.upper,
        n=worst.n,
        since_ns=min(since, default=None),
        evidence={**head.evidence, **evidence},
    )


def _rank(op: OpVerdict) -> tuple[bool, bool, float, float, int]:
    """The worst first: typically slow, slow in part, then those of which some are lost."""
    return (
        op.state != "slow",
        op.partly,
        -(op.slowdown or 0.0) if op.state == "slow" or op.lost is None else 0.0,
        -(op.lost or 0.0),
        op_order(op.op),
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
        op.get("tail"),
        op["partly"],
        _lost(op),
    )


def _lost(op: dict[str, Any]) -> float | None:
    """The share lost where its interval leaves no doubt, unless the probing host was busy."""
    certain = (op.get("lost_lower") or 0.0) >= LOST_AT and not op["host_busy"]
    return op["lost"] if certain and op["state"] in _COMING_BACK else None


def _answering(ops: list[OpVerdict], bad: list[OpVerdict]) -> list[str]:
    """Operations that ended well of late; one that has nothing to work on does not answer."""
    good = ("ok", "slow", "learning")
    return [op.op for op in ops if op not in bad and op.state in good and op.n > 0]


def _waits_in(state: dict[str, Any], bad: list[OpVerdict]) -> list[str]:
    """The kernel functions that stuck operations wait in."""
    names = {op.op for op in bad}
    return sorted({op["wchan"] for op in state["ops"] if op["op"] in names and op.get("wchan")})


def _climate(state: dict[str, Any]) -> dict[str, Any]:
    """The op whose usual latency has changed most for the worse since the reference, if it has."""
    known = [(op.get("climate") or 0.0, str(op["op"])) for op in state["ops"]]
    climate, op = max(known, default=(0.0, ""))
    return {"climate": climate, "climate_op": op} if climate >= CLIMATE_AT else {}


def _learnt(state: dict[str, Any]) -> dict[str, Any]:
    """From how much time it is known what is usual, while that is less than an hour (ns)."""
    young = [op["baseline_windows"] for op in state["ops"] if op.get("stage") == "learning"]
    if not young or not min(young) or state["window_ns"] is None:
        return {}
    return {"learnt_ns": min(young) * int(state["window_ns"])}


def _progress(state: dict[str, Any]) -> dict[str, Any]:
    known = min((op["baseline_windows"] for op in state["ops"]), default=0)
    return {"windows": min(known, BASELINE_WINDOWS), "windows_needed": BASELINE_WINDOWS}
