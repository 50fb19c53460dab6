"""Sentences about slow events, hangs, lasting changes, and who saw them: every number beside the op it is of.

The tone of ``weather.slowdown.words``: one line without a full stop at its end; a sentence has at most 25 words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import SECOND_NS, op_word
from iosonde.model.units import (
    format_factor,
    format_percent,
    format_seconds,
    format_span,
    format_time,
)

if TYPE_CHECKING:
    from iosonde.model.events import OpShare, SlowEvent, Witnesses

_TOLD_LOST = 0.005
_OTHERS_LOST = 0.05
_TOLD_RECOVERY_NS = 60_000_000_000
_LEAST_TAIL = 2.0
_NONE = 0.005
"""A share of hits below which it is none."""


def say_slow_event(event: SlowEvent, now_ns: int, zone: tzinfo | None = None) -> str:
    """``reads on /work were 3.1x slower than usual from 14:05 to 15:10, at worst 5.0x (14:20)``."""
    if event.kind == "hang":
        return _hung(event, now_ns, zone)
    if event.kind == "change":
        return _changed(event, now_ns, zone)
    if event.kind == "slow":
        sentences = _slow(event, now_ns, zone)
    elif event.kind == "lost":
        worst = event.ops[0]
        verb = _have_been(event)
        what = f"{_share(worst.lost)} {op_word(worst.op)} on {event.target} {verb} late or missing"
        sentences = [f"{what} {_op_when(event, worst, now_ns, zone)}"]
    else:
        sentences = [_partly(event, now_ns, zone)]
    told = [share for share in event.ops if (share.lost or 0.0) >= _told_from(share)]
    lossy = max(told, key=lambda share: share.lost or 0.0, default=None)
    if event.kind != "lost" and lossy:
        sentences.append(f"{_share(lossy.lost)} {op_word(lossy.op)} were late or missing")
    if event.op and event.recovery_ns is not None and event.recovery_ns >= _TOLD_RECOVERY_NS:
        took = format_seconds(event.recovery_ns)
        sentences.append(f"{op_word(event.op)} took {took} from half their peak to the end")
    if event.unobserved_ns > 0:
        sentences.append(f"no probe ran for {format_seconds(event.unobserved_ns)} of it")
    return _text(sentences)


def _have_been(event: SlowEvent) -> str:
    return "have been" if event.goes_on else "were"


def _op_have_been(event: SlowEvent, share: OpShare) -> str:
    return _have_been(event) if event.reached_by(share) else "were"


def _told_from(share: OpShare) -> float:
    """From which loss on it is told: of an op that was not slow itself, only what is far from usual."""
    return _OTHERS_LOST if share.start_ns is None else _TOLD_LOST


def _text(sentences: Sequence[str]) -> str:
    first, *others = sentences
    return ". ".join([first, *(text[:1].upper() + text[1:] for text in others)])


def _slow(event: SlowEvent, now_ns: int, zone: tzinfo | None) -> list[str]:
    """The hardest op with its own peak; of the other slow ones that which lasted longest."""
    worst, *others = [share for share in event.ops if share.affected] or event.ops[:1]
    verb = _op_have_been(event, worst)
    text = f"{op_word(worst.op)} on {event.target} {verb} {format_factor(worst.median)}x slower than usual "
    sentences = [text + _op_when(event, worst, now_ns, zone) + _at_worst(worst, now_ns, zone)]
    if worst.hits is not None:
        hits = (worst.hits, worst.hits_usual or 0.0)
        sentences.append(say_few_hits("them", *hits, "", goes_on=event.goes_on))
    if others:
        long = max(others, key=lambda share: (_length(share), share.peak or 0.0))
        text = (
            f"{op_word(long.op)} {_op_have_been(event, long)} {format_factor(long.median)}x slower "
        )
        same = _op_when(event, long, now_ns, zone) == _op_when(event, worst, now_ns, zone)
        text += "meanwhile" if same else _op_when(event, long, now_ns, zone)
        sentences.append(text + _at_worst(long, now_ns, zone))
    if len(others) > 1:
        more = len(others) - 1
        sentences.append(f"{more} more operation{'s were' if more > 1 else ' was'} slow, too")
    return sentences


def _length(share: OpShare) -> int:
    return (share.end_ns or 0) - (share.start_ns or 0)


def _at_worst(share: OpShare, now_ns: int, zone: tzinfo | None) -> str:
    peak = format_factor(share.peak)
    if share.peak is None or share.peak_ns is None or peak == format_factor(share.median):
        return ""
    return f", at worst {peak}x ({format_time(share.peak_ns, now_ns, zone)})"


def _partly(event: SlowEvent, now_ns: int, zone: tzinfo | None) -> str:
    """Only some of the operations were slow: the typical one tells nothing."""
    verb = _have_been(event)
    when = _when(event, now_ns, zone)
    if not event.ops:
        return f"some operations on {event.target} {verb} slow {when}"
    worst = event.ops[0]
    if worst.hits is not None:
        hits, usual = worst.hits, worst.hits_usual or 0.0
        what = f"the {op_word(worst.op)} on {event.target}"
        return say_few_hits(what, hits, usual, when, goes_on=event.goes_on)
    text = f"some {op_word(worst.op)} on {event.target} {verb} slow {when}"
    if worst.tail is None or worst.tail < _LEAST_TAIL:
        return text
    return f"{text}: the slowest twentieth up to {format_factor(worst.tail)}x slower than usual"


def say_few_hits(what: str, hits: float, usual: float, when: str, *, goes_on: bool) -> str:
    """``only 2% of the reads on /work have come from a cache since 14:05 (usually 80%)``; the shares of 1."""
    part = "none" if hits < _NONE else f"only {format_percent(hits)}"
    verb = "have come" if goes_on else "came"
    when = f" {when}" if when else ""
    return f"{part} of {what} {verb} from a cache{when} (usually {format_percent(usual)})"


def _hung(event: SlowEvent, now_ns: int, zone: tzinfo | None) -> str:
    since = format_time(event.start_ns, now_ns, zone, seconds=True)
    lasted = _seconds(event.seen_until_ns - event.start_ns)
    if event.unknown_since_ns is not None:
        known = format_time(event.unknown_since_ns, now_ns, zone, seconds=True)
        return f"{_who_hung(event)} on {event.target} hung from {since}, not known since {known}"
    if event.end_ns is None:
        return f"{_who_hung(event)} on {event.target} have hung for {lasted}, since {since}"
    return f"{_who_hung(event)} on {event.target} hung for {lasted} from {since}"


def _seconds(ns: int) -> str:
    """To the nearest second: a hang is known to the operation, and those are due within a second."""
    return format_seconds(max(1, round(ns / SECOND_NS)) * SECOND_NS)


def _who_hung(event: SlowEvent) -> str:
    names = [op_word(share.op) for share in event.ops]
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} more operations"


def _changed(event: SlowEvent, now_ns: int, zone: tzinfo | None) -> str:
    worst, *others = event.ops
    since = format_time(event.start_ns, now_ns, zone)
    text = f"{op_word(worst.op)} on {event.target} have been lastingly {_factor_word(worst)} since {since}"
    if not others:
        return text
    told = [f"{op_word(share.op)} {_factor_word(share)}" for share in others[:2]]
    if len(others) > 2:
        told.append(f"{len(others) - 2} more changed")
    return f"{text}. Since then {_join(told)}"


def _factor_word(share: OpShare) -> str:
    factor = share.median or 1.0
    return (
        f"{format_factor(factor)}x slower"
        if factor >= 1
        else f"{format_factor(1 / factor)}x faster"
    )


def _share(lost: float | None) -> str:
    """``all``, ``12% of``."""
    part = lost or 0.0
    return "all" if part >= 0.9995 else f"{part:.1%} of" if part < 0.1 else f"{part:.0%} of"


def slow_words(event: SlowEvent) -> tuple[str, str]:
    """How long it lasted and what was slow, for a table."""
    lasted = _seconds((event.end_ns or event.seen_until_ns) - event.start_ns)
    if event.kind == "hang":
        return lasted, f"{_who_hung(event)} on {event.target} hung"
    if event.kind == "change":
        parts = [f"{op_word(share.op)} {_factor_word(share)}" for share in event.ops]
        return lasted, f"{event.target} changed lastingly: {', '.join(parts)}"
    if event.kind == "lost":
        return lasted, f"{op_word(event.op or '')} on {event.target} late or missing"
    affected = [share for share in event.ops if share.affected]
    parts = [f"{op_word(share.op)} {format_factor(share.median)}x" for share in affected]
    some = f"some {op_word(event.op)} on {event.target} slow" if event.op else ""
    if event.ops and event.ops[0].hits is not None:
        some = f"fewer {op_word(event.ops[0].op)} on {event.target} from a cache"
    what = f"{event.target} slow: {', '.join(parts)}" if parts else some
    return lasted, what or f"some of {event.target} slow"


def slow_end(event: SlowEvent, now_ns: int, zone: tzinfo | None = None) -> tuple[str, str]:
    """Whether it is over, and how slow each op became at worst, for a table."""
    ended = "still" if event.end_ns is None else "over"
    if event.unknown_since_ns is not None:
        ended = f"not known since {format_time(event.unknown_since_ns, now_ns, zone)}"
    if event.kind == "change":
        return "lasts", ""
    own = [share for share in event.ops if share.affected or share.start_ns is not None]
    if event.kind == "hang":
        parts = [f"{op_word(share.op)} {_seconds(share.hung_ns or 0)}" for share in own]
        return ended, ", ".join(parts)
    return ended, "; ".join(text for text in map(_op_details, own) if text)


def _op_details(share: OpShare) -> str:
    """``reads at worst 5.0x, their slowest twentieth 9.1x, 2.1% lost``."""
    parts = []
    if share.peak is not None and share.affected:
        parts.append(f"at worst {format_factor(share.peak)}x")
    if share.tail is not None and share.tail >= _LEAST_TAIL:
        parts.append(f"their slowest twentieth {format_factor(share.tail)}x")
    if (share.lost or 0.0) >= _TOLD_LOST:
        parts.append(f"{share.lost:.1%} late or missing")
    return f"{op_word(share.op)} {', '.join(parts)}" if parts else ""


_HAPPENED = {"hang": "hung", "lost": "were late or missing", "partly_slow": "were partly slow"}


def say_seen(seen: Witnesses) -> str:
    """Whether this host or the storage is slow, as several hosts saw it."""
    what = f"{op_word(seen.op)} on {seen.target}"
    verb = _HAPPENED.get(seen.kind, "were slow")
    if seen.scope == "storage":
        factor = f"were {format_factor(seen.slowdown)}x slower" if seen.slowdown else verb
        cause = "slow" if seen.kind == "slow" else "the cause"
        return f"{what} {factor} for {len(seen.hosts)} of {seen.of} hosts: the storage was {cause}"
    if seen.scope == "client":
        others = seen.of - len(seen.hosts)
        who = f"{_join(list(seen.hosts))} alone" if seen.hosts else "one host at a time"
        return f"{what} {verb} for {who}; {others} other hosts saw nothing unusual"
    if seen.scope == "nobody":
        return f"{what} were as usual for all of {seen.of} hosts"
    watched = "1 host" if seen.of == 1 else f"{seen.of} hosts"
    return f"{what}: {watched} watched, too few to tell a host from the storage"


def _op_when(event: SlowEvent, share: OpShare, now_ns: int, zone: tzinfo | None) -> str:
    """When an op was slow; since the event began where it was slow all the time."""
    if share.start_ns is None or share.end_ns is None:
        return _when(event, now_ns, zone)
    open_ = event.reached_by(share)
    if open_ and event.unknown_since_ns is not None:
        return _not_known(share.start_ns, event.unknown_since_ns, now_ns, zone)
    return _span(share.start_ns, None if open_ else share.end_ns, now_ns, zone)


def _when(event: SlowEvent, now_ns: int, zone: tzinfo | None) -> str:
    if event.unknown_since_ns is not None:
        return _not_known(event.start_ns, event.unknown_since_ns, now_ns, zone)
    return _span(event.start_ns, event.end_ns, now_ns, zone)


def _not_known(start_ns: int, unknown_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """Of a probe that stopped meanwhile."""
    since = format_time(unknown_ns, now_ns, zone)
    return f"from {format_time(start_ns, now_ns, zone)}, not known since {since}"


def _span(start_ns: int, end_ns: int | None, now_ns: int, zone: tzinfo | None) -> str:
    since = format_time(start_ns, now_ns, zone)
    if end_ns is None:
        return f"since {since}"
    span = format_span(start_ns, end_ns, now_ns, zone)
    if span == since:
        return f"at {since} for {format_seconds(end_ns - start_ns)}"
    return f"from {span}"


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
