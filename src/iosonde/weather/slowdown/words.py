"""Sentences about storage: page, terminal, check and report say the same words.

A sentence is one line without a full stop, names the target, gives a slowdown with its 95%
interval, and never says "storage" when the probing host was the cause. Those of findings stand in
``rust/ask/src/words.rs``; here is what only histories say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde import _core
from iosonde.model.ops import SECOND_NS, op_word
from iosonde.model.units import format_factor, format_seconds, format_span, format_time, to_datetime

if TYPE_CHECKING:
    from iosonde.model.frames import EpochChange, LateSpan, LostSpan
    from iosonde.weather.slowdown.findings import Finding
    from iosonde.weather.slowdown.load_effect import Effect


def say(finding: Finding, zone: tzinfo | None = None) -> str:
    """The sentence of a finding, with times in ``zone`` (None: the system's local zone)."""
    return say_all([finding], zone)[0]


def say_all(findings: Sequence[Finding], zone: tzinfo | None = None) -> list[str]:
    """The sentences of many, in their order."""
    return _core.sentences(findings, None if zone is None else _offset_s(zone))


def _offset_s(zone: tzinfo) -> Callable[[int], int]:
    """How far the clocks of a zone are ahead of UTC at a second."""

    def ahead(second: int) -> int:
        offset = to_datetime(second * SECOND_NS, zone).utcoffset()
        return 0 if offset is None else round(offset.total_seconds())

    return ahead


def learned_from(ns: int) -> str:
    """``learned from 6 min``: of how much time it is known what is usual, in the first hour."""
    return f"learned from {format_seconds(ns)}"


def summary_of(seen: Sequence[tuple[str, str, str]]) -> str:
    """``3 targets: 1 hanging or failing, 2 as usual``, the worst first; of several hosts how many these are, too.

    ``seen``: (host, target, severity).
    """
    return _core.summary(seen)


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
    return _core.say_namesake(host)


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


def say_late(span: LateSpan, now_ns: int, zone: tzinfo | None = None) -> str:
    """The sentence of a stretch in which the probing host began operations late or never."""
    some = "all" if span.n_late == span.n_due else f"{span.n_late} of"
    what = f"{some} {span.n_due} {op_word(span.key.op)} on {span.key.target}"
    when = _between(span.start_ns, span.end_ns, now_ns, zone)
    return (
        f"the probing host was busy: {what} began late or never {when}, not proof of slow storage"
    )


_CAUSES = {
    "storage": "became slower, because of the storage",
    "host": "became slower because this host was busy, not proof of slow storage",
    "none": "stayed as usual",
    "unknown": "cannot be judged",
}


def _between(since_ns: int, until_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """``from 14:05 to 14:10``, to the second for short stretches."""
    short = until_ns - since_ns < 120_000_000_000
    return f"from {format_span(since_ns, until_ns, now_ns, zone, seconds=short)}"


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
