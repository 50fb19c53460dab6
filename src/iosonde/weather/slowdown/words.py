"""The one place that writes sentences about storage.

Page, terminal, check and report say the same words.

A sentence is one line without a full stop, names the target, gives a slowdown with its 95%
interval, and never says "storage" when the probing host was the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import SECOND_NS, SLOW_AT, op_word
from iosonde.model.units import format_factor, format_seconds, format_slowdown, format_time
from iosonde.weather.slowdown.findings import SEVERITIES, Finding, OpVerdict

if TYPE_CHECKING:
    from iosonde.model.frames import EpochChange, LostSpan
    from iosonde.weather.slowdown.load_effect import Effect


def say(finding: Finding, zone: tzinfo | None = None) -> str:
    """The sentence of a finding, with times in ``zone`` (None: the system's local zone)."""
    return _SAY[finding.kind](finding, zone) + _beside(finding) + _seen(finding)


def learned_from(ns: int) -> str:
    """``learned from 6 min``: of how much time it is known what is usual, in the first hour."""
    return f"learned from {format_seconds(ns)}"


def summary(findings: Sequence[Finding]) -> str:
    """``3 targets: 1 hanging or failing, 2 as usual``, the worst first; of several hosts how many these are, too."""
    return summary_of([(one.host, one.target, one.severity) for one in findings])


def summary_of(seen: Sequence[tuple[str, str, str]]) -> str:
    """The same of (host, target, severity)."""
    counted = Counter(severity for _, _, severity in seen)
    parts = [
        f"{counted[severity]:,} {_SEVERITY_WORDS[severity]}"
        for severity in reversed(SEVERITIES)
        if counted[severity]
    ]
    hosts, targets = ({one[place] for one in seen} for place in (0, 1))
    what = f"{len(targets):,} target{'' if len(targets) == 1 else 's'}"
    if len(hosts) > 1:
        what += f" seen from {len(hosts):,} hosts"
    return f"{what}: {', '.join(parts)}"


_SEVERITY_WORDS = {
    "hung": "hanging or failing",
    "slow": "slow",
    "unknown": "unknown",
    "info": "without a verdict",
    "ok": "as usual",
}


def conclude(effects: Sequence[Effect]) -> str:
    """What a known load did: which operations became slow, because of what, and the clearest's onset."""
    parts = []
    for cause, words in _CAUSES.items():
        ops = [op_word(effect.key.op) for effect in effects if effect.cause == cause]
        if ops:
            parts.append(f"{_join(ops)} {words}")
    dated = [effect for effect in effects if effect.late_ns is not None and effect.slowdown]
    if dated:
        clearest = max(dated, key=lambda effect: effect.slowdown or 0.0)
        late_s = (clearest.late_ns or 0) / SECOND_NS
        when = f"{abs(late_s):.1f} s {'before' if late_s < 0 else 'after'} the load began"
        parts.append(
            f"the clearest of them, {op_word(clearest.key.op)}, was found slow from {when}"
        )
    return "; ".join(parts) if parts else "nothing was measured"


def say_namesake(host: str) -> str:
    """What is said of a host name that two machines have."""
    return f'two machines or containers probe as {host}, and their records mix: give each a name (host = "...")'


def say_change(change: EpochChange, now_ns: int, zone: tzinfo | None = None) -> str:
    """The sentence of a lasting change of what is usual."""
    slower = change.factor >= 1.0
    factor = format_factor(change.factor if slower else 1.0 / max(change.factor, 1e-9))
    since = format_time(change.began_ns, now_ns, zone)
    where = f"{op_word(change.key.op)} on {change.key.target}"
    return f"{where} have been lastingly {factor}x {'slower' if slower else 'faster'} since {since}"


def say_lost(span: LostSpan, now_ns: int, zone: tzinfo | None = None) -> str:
    """The sentence of a stretch in which operations were lost."""
    some = "all" if span.n_lost == span.n_due else f"{span.n_lost} of"
    what = f"{some} {span.n_due} {op_word(span.key.op)} on {span.key.target}"
    when = _between(span.start_ns, span.end_ns, now_ns, zone)
    return f"{what} were late, missing or failed {when}"


MOST_WORDS = 25
"""Of a sentence."""
_NAMED = 4
"""Of more servers that are as usual only these are named."""
_SEEN_WORDS = 4
"""``; seen 4 min ago``"""


def _room(finding: Finding) -> int:
    """Words that a sentence may have without ``_seen``."""
    return MOST_WORDS - _SEEN_WORDS if _seen(finding) else MOST_WORDS


def _seen(finding: Finding) -> str:
    """How old the copy of a state is that a finding is about: its probe may have seen more since."""
    if "shipped_ns" not in finding.evidence:
        return ""
    return f"; seen {format_seconds(finding.evidence['age_ns'])} ago"


def _named(finding: Finding) -> str:
    """The target, and which of its servers."""
    component = finding.evidence.get("component")
    return f"{component['of']}, server {component['name']}" if component else finding.target


def _of(finding: Finding) -> str:
    """The same where the sentence goes on."""
    return _named(finding) + ("," if finding.evidence.get("component") else "")


def _beside(finding: Finding) -> str:
    """Which servers of the target are as usual."""
    usual = finding.evidence.get("usual_beside", [])
    if not usual:
        return ""
    names = usual[:_NAMED]
    names += [f"{len(usual) - _NAMED} more"] if len(usual) > _NAMED else []
    return f"; {_join(names)} {'is' if len(usual) == 1 else 'are'} as usual"


_CAUSES = {
    "storage": "became slower, because of the storage",
    "host": "became slower because this host was busy, not proof of slow storage",
    "none": "stayed as usual",
    "unknown": "cannot be judged",
}


def _usual(finding: Finding, _zone: tzinfo | None) -> str:
    worst = finding.ops[0]
    learnt = finding.evidence.get("learnt_ns")
    known = "" if learnt is None else f" ({learned_from(learnt)})"
    text = (
        f"{_of(finding)} is as usual{known}: the slowest operation, {op_word(worst.op)}, "
        f"is at {format_slowdown(worst.slowdown, worst.lower, worst.upper)}"
    )
    if worst.slowdown is not None and worst.slowdown >= SLOW_AT:
        text += ", which is too uncertain to be called slow"
    if climate := finding.evidence.get("climate"):
        op = op_word(finding.evidence["climate_op"])
        text += f"; usual itself has become {format_factor(climate)}x slower for {op} than it was at first"
    return text


def _slow(finding: Finding, zone: tzinfo | None) -> str:
    return _slower(finding, zone, _room(finding))


def _slower(finding: Finding, zone: tzinfo | None, most_words: int) -> str:
    worst, *others = finding.ops
    learnt = finding.evidence.get("learnt_ns")
    known = "" if learnt is None else f"; usual is {learned_from(learnt)}"
    left = most_words - len(known.split())
    if worst.partly:
        parts = [_part(finding, op, zone) for op in finding.ops]
        head = f"a part of the operations on {_of(finding)} is slower than usual: {parts[0]}"
        return _listed(head, parts[1:], left) + known
    text = f"{op_word(worst.op)} on {_of(finding)} {_are_slower(finding, worst, zone)}"
    return _listed(text, [_beside_worst(finding, op, zone) for op in others], left) + known


def _beside_worst(finding: Finding, op: OpVerdict, zone: tzinfo | None) -> str:
    """Another operation that is slow, too."""
    if op.partly:
        return f"a part of {op_word(op.op)}{_since(finding, op, zone)}"
    if op.state != "slow":
        return f"{_lost_share(op)} lost"
    factor = format_slowdown(op.slowdown, op.lower, op.upper)
    return f"{op_word(op.op)} {factor}{_since(finding, op, zone)}"


def _part(finding: Finding, op: OpVerdict, zone: tzinfo | None) -> str:
    """The typical operation is as usual, and some are not."""
    if op.state != "slow":
        return f"{_lost_share(op)} lost"
    tail = "" if op.tail is None else f" (the slowest twentieth {format_factor(op.tail)}x)"
    return f"{op_word(op.op)}{tail}{_since(finding, op, zone)}"


def _listed(head: str, parts: list[str], most_words: int) -> str:
    """``head`` and as many parts as the sentence has room for; the others are counted."""
    for n in range(len(parts), -1, -1):
        more = [f"and {len(parts) - n} more"] if n < len(parts) else []
        text = ", ".join([head, *parts[:n], *more])
        if len(text.split()) <= most_words:
            break
    return text


def _lost(finding: Finding, _zone: tzinfo | None) -> str:
    head, *others = [_lost_share(op) for op in finding.ops]
    verb = "were" if finding.until_ns is not None else "are"
    text = f"{head} on {_of(finding)} {verb} late, missing or failed"
    return _listed(text, others, _room(finding))


def _lost_share(op: OpVerdict) -> str:
    """``12% of creates``."""
    part = op.lost or 0.0
    return f"{'all' if part >= 0.9995 else f'{part:.0%} of'} {op_word(op.op)}"


def _are_slower(finding: Finding, op: OpVerdict, zone: tzinfo | None) -> str:
    over = finding.until_ns is not None or "unknown_since_ns" in finding.evidence
    verb = "were" if over else "are"
    if op.slowdown is None:
        return f"{verb} slower than usual{_since(finding, op, zone)}"
    interval = ""
    if op.lower is not None and op.upper is not None:
        interval = f" ({format_factor(op.lower)}-{format_factor(op.upper)})"
    factor = format_factor(op.slowdown)
    return f"{verb} {factor}x slower than usual{interval}{_since(finding, op, zone)}"


def _since(finding: Finding, op: OpVerdict, zone: tzinfo | None) -> str:
    if op.since_ns is None:
        return ""
    since = format_time(op.since_ns, finding.at_ns, zone)
    if (unknown := finding.evidence.get("unknown_since_ns")) is not None:
        return f" from {since}, not known since {format_time(unknown, finding.at_ns, zone)}"
    if finding.until_ns is None:
        return f" since {since}"
    return f" {_between(op.since_ns, finding.until_ns, finding.at_ns, zone)}"


def _between(since_ns: int, until_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """``from 14:05 to 14:10``, to the second for short stretches."""
    short = until_ns - since_ns < 120_000_000_000
    since = format_time(since_ns, now_ns, zone, seconds=short)
    until = format_time(until_ns, now_ns, zone, seconds=short)
    if since[:10] == until[:10] and len(until) > 10:
        until = until[11:]
    return f"from {since} to {until}"


def _host_busy(finding: Finding, zone: tzinfo | None) -> str:
    verb = "was" if finding.until_ns is not None else "is"
    slow = _slower(finding, zone, _room(finding) - 11)
    return f"the probing host {verb} busy: {slow}, not proof of slow storage"


def _hung(finding: Finding, zone: tzinfo | None) -> str:
    words = _join([op_word(op.op) for op in finding.ops])
    text = f"{words} on {_of(finding)} have been hanging"
    if finding.since_ns is not None:
        age = format_seconds(max(0, finding.at_ns - finding.since_ns))
        text += (
            f" for {age} (since {format_time(finding.since_ns, finding.at_ns, zone, seconds=True)})"
        )
    if waits_in := finding.evidence.get("waits_in"):
        text += f", waiting in the kernel's {_join(waits_in)}"
    answering = [op_word(op) for op in finding.evidence.get("answering", [])]
    return f"{text}; {', '.join(answering)} still answer" if answering else text


def _failing(finding: Finding, zone: tzinfo | None) -> str:
    words = _join([op_word(op.op) for op in finding.ops])
    outcomes = sorted({op.outcome for op in finding.ops if op.outcome})
    why = f" ({', '.join(outcomes)})" if outcomes else ""
    since = ""
    if finding.since_ns is not None:
        since = f" since {format_time(finding.since_ns, finding.at_ns, zone)}"
    return f"{words} on {_of(finding)} are failing{why}{since}"


def _learning(finding: Finding, _zone: tzinfo | None) -> str:
    known, needed = finding.evidence.get("windows", 0), finding.evidence.get("windows_needed", 0)
    return f"{_named(finding)}: still learning the baseline ({known} of {needed} windows)"


def _few(finding: Finding, _zone: tzinfo | None) -> str:
    return f"{_named(finding)}: too few operations ended well of late to tell"


def _stopped(finding: Finding, zone: tzinfo | None) -> str:
    heard = _heard(finding, zone)
    return f"unknown: {_of(finding)} has no probe since {heard} (stopped)"


def _stale(finding: Finding, zone: tzinfo | None) -> str:
    heard = _heard(finding, zone)
    return f"unknown: no news of {_of(finding)} since {heard} (the probe may have stopped)"


def _heard(finding: Finding, zone: tzinfo | None) -> str:
    return format_time(finding.since_ns or 0, finding.at_ns, zone)


def _damaged(finding: Finding, _zone: tzinfo | None) -> str:
    return (
        f"unknown: the state of {finding.target} cannot be read ({finding.evidence.get('error')})"
    )


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_SAY = {
    "usual": _usual,
    "slow": _slow,
    "lost": _lost,
    "host_busy": _host_busy,
    "hung": _hung,
    "failing": _failing,
    "learning": _learning,
    "few": _few,
    "stopped": _stopped,
    "stale": _stale,
    "damaged": _damaged,
}
