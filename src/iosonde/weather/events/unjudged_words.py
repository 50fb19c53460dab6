"""Sentences about intervals that were not judged: one a reason, with a count where several series share it.

One line without a full stop, of at most 25 words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.names import host_of_rank
from iosonde.model.ops import op_word
from iosonde.model.units import format_option, format_seconds, format_span, format_time
from iosonde.model.verdicts import Reason
from iosonde.weather.slowdown.words import learned_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from iosonde.model.verdicts import Unjudged

_MOST_CLAUSES = 2
FEW = "windows hold too few operations for an interval; a longer --window may help"


def say_not_judged(found: Sequence[Unjudged], now_ns: int, zone: tzinfo | None = None) -> list[str]:
    """A sentence a reason; several intervals of one reason are one sentence with their count."""
    lines = []
    ranks = [one for one in found if host_of_rank(one.host) is not None]
    others = [one for one in found if host_of_rank(one.host) is None]
    if ranks:
        lines.append(_ranks(ranks))
    for group in _by_reason(others):
        lines.append(_one(group[0], now_ns, zone) if len(group) == 1 else _several(group))
    return lines


def why_not(found: Sequence[Unjudged]) -> str:
    """The reasons alone, as a clause: ``the baseline was still learning and no probe ran``."""
    clauses = dict.fromkeys(_clause(one) for one in found if one.blind)
    return " and ".join(list(clauses)[:_MOST_CLAUSES]) or "nothing was measured"


def _clause(one: Unjudged) -> str:
    match one.reason:
        case Reason.LEARNING:
            return "the baseline was still learning"
        case Reason.NO_PROBE:
            return "no probe ran"
        case Reason.DAMAGED:
            return "a damaged file was left out"
        case Reason.OTHER_BASELINE:
            return "the baseline asked for has nothing to compare with"
        case _:
            return "there were too few operations"


def _by_reason(found: Sequence[Unjudged]) -> list[list[Unjudged]]:
    """Intervals of each reason, in the order of ``Reason``; apart where a provisional baseline judged."""
    groups: dict[tuple[Reason, bool], list[Unjudged]] = {}
    for one in sorted(found, key=lambda one: list(Reason).index(one.reason)):
        groups.setdefault((one.reason, one.blind), []).append(one)
    return list(groups.values())


def say_unjudged(one: Unjudged, now_ns: int, zone: tzinfo | None = None) -> str:
    """The sentence of one interval."""
    return _one(one, now_ns, zone)


def _ranks(found: Sequence[Unjudged]) -> str:
    hosts = {one.host for one in found}
    ranks = "1 rank" if len(hosts) == 1 else f"{len(hosts)} ranks"
    bases = sorted({host_of_rank(host) or host for host in hosts})
    more = f" and {len(bases) - 1} more" if len(bases) > 1 else ""
    return (
        f"{ranks} of {bases[0]}{more}: not judged, a benchmark ends before anything is usual; "
        "'iosonde bursts' compares ranks"
    )


def _what(one: Unjudged) -> str:
    """``/work from login2``, ``reads on /work from login2``, ``login2``."""
    if one.target is None:
        return one.host
    where = f"{one.target} from {one.host}"
    return where if one.op is None else f"{op_word(one.op)} on {where}"


def _one(one: Unjudged, now_ns: int, zone: tzinfo | None) -> str:
    since = format_time(one.begin_ns, now_ns, zone)
    when = f"since {since}" if one.end_ns is None else f"from {_span(one, now_ns, zone)}"
    text = f"not judged {when}, {_clause(one)}"
    if one.reason is Reason.DAMAGED:
        text = f"not judged in full {when}, {_clause(one)}"
    elif one.reason in _SPARSE:
        text = f"not judged {when}, {_needs([one])}"
    elif one.reason is Reason.LEARNING and one.end_ns is None:
        young = f"what is usual is {learned_from(one.learned_ns or 0)}"
        text = f"no verdict yet, the baseline is learning since {since}" if one.blind else young
    elif one.reason is Reason.LEARNING and not one.blind:
        until = format_time(one.end_ns or 0, now_ns, zone)
        whole = format_seconds((one.end_ns or 0) - one.begin_ns)
        text = f"what was usual until {until} was learned from less than {whole}"
    return f"{_what(one)}: {text}"


_SPARSE = (Reason.FEW_OPERATIONS, Reason.LONG_STEP)


def _several(found: Sequence[Unjudged]) -> str:
    """``3 targets from 2 hosts: not judged, ...``."""
    first = found[0]
    text = f"not judged, {_clause(first)}"
    if first.reason in _SPARSE:
        text = f"not judged, {_needs(found)}"
    elif first.reason is Reason.LEARNING and not first.blind:
        text = f"what is usual was learned from less than {_longest(found)} at first"
    elif first.reason is Reason.NO_PROBE:
        whole = sum((one.end_ns or one.begin_ns) - one.begin_ns for one in found)
        text = f"not judged in {len(found)} gaps of {format_seconds(whole)} in all, no probe ran"
    elif first.reason is Reason.DAMAGED:
        text = f"not judged in full on {len(found)} days, damaged files were left out"
    return f"{_who(found)}: {text}"


def _who(found: Sequence[Unjudged]) -> str:
    """The one place of all, or how many there are."""
    names = {_what(one) for one in found}
    if len(names) == 1:
        return names.pop()
    places = {(one.host, one.target) for one in found}
    if len(places) == 1:
        ops = {one.op for one in found}
        host, target = places.pop()
        return f"{len(ops)} operations on {target or 'all targets'} from {host}"
    targets, hosts = {one.target for one in found}, {one.host for one in found}
    return f"{_counted(len(targets), 'target')} from {_counted(len(hosts), 'host')}"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _longest(found: Sequence[Unjudged]) -> str:
    lengths = [one.end_ns - one.begin_ns for one in found if one.end_ns is not None]
    return format_seconds(max(lengths, default=3_600_000_000_000))


def _needs(found: Sequence[Unjudged]) -> str:
    needs = max((one.needs_ns for one in found if one.needs_ns is not None), default=None)
    if needs is None:
        return "too few operations"
    if found[0].reason is Reason.LONG_STEP:
        return f"operations are too rare: they would need windows of {format_seconds(needs)}"
    return f"too few operations ended well: they would need windows of {format_option(needs)}"


def _span(one: Unjudged, now_ns: int, zone: tzinfo | None) -> str:
    return format_span(one.begin_ns, one.end_ns or now_ns, now_ns, zone)
