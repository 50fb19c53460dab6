"""The sentence of ``why``, of at most ``MOST_WORDS`` words; ``evidence`` has a line a link.

A link that is not known is named at the sentence's end, and takes the strong word from what stands on it: without
control of the host a job "was probably involved".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.jobs.attribution.culprits import Confidence
from iosonde.model.events import Recurring
from iosonde.model.ops import op_word
from iosonde.model.text import clean_text
from iosonde.model.units import (
    about_length,
    format_factor,
    format_percent,
    format_span,
    format_time,
)
from iosonde.weather.events.slow_words import say_few_hits
from iosonde.weather.events.unjudged_words import why_not
from iosonde.weather.events.words import span_words
from iosonde.why.links import Kind, PartSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from iosonde.why.links import (
        Culprit,
        Links,
        LoadEvidence,
        Parts,
        RecurrenceEvidence,
        SlowPart,
        StretchFacts,
        Why,
    )

MOST_WORDS = 30
SHORT_NS = 600_000_000_000
"""Of shorter stretches the seconds are said."""
_STOPPED = {"hang": ("have hung", "hung"), "failing": ("have failed", "failed")}
"""What is said of operations that no factor describes: it goes on, it is over."""
DECIDING = ("component", "load", "host", "recurrence", "change")
"""Links that the verdict stands on, in the order in which the sentence names those that are not known."""


def say(why: Why, now_ns: int, zone: tzinfo | None = None) -> str:
    """The verdict in one sentence, without a full stop."""
    slow = why.links.slowness.found
    if slow is None:
        return clean_text(_nothing(why, now_ns, zone))
    missing = _missing(why)
    end = f"; not known: {', '.join(missing)}" if missing else ""
    what = _what(slow, why, now_ns, zone)
    text = f"{what}: {_cause(why, now_ns)}{end}"
    for short in (what, what.replace(" than usual", "")):
        if len(text.split()) > MOST_WORDS:
            text = f"{short}: {_cause(why, now_ns, short=True)}{end}"
    return clean_text(text)


def _nothing(why: Why, now_ns: int, zone: tzinfo | None) -> str:
    looked = why.looked
    targets, hosts = len(looked.targets), len(looked.hosts)
    span = format_span(looked.begin_ns, looked.end_ns, now_ns, zone).replace(" to ", " and ")
    seen = f"{counted(targets, 'target')} from {counted(hosts, 'host')}"
    if looked.dark and set(looked.dark) == set(looked.targets):
        return f"nothing was judged of {seen} between {span}: {why_not(looked.not_judged)}"
    dark = f", {len(looked.dark)} of them not judged" if looked.dark else ""
    beside = f"; {counted(len(looked.peers), 'part')} slow beside peers" if looked.peers else ""
    what = "no slow stretch" if looked.peers else "nothing is slow: no slow stretch"
    return f"{what} of {seen}{dark} between {span}{beside}"


def _missing(why: Why) -> list[str]:
    """Deciding links that are not known; none where the host explains it and the rest does not matter."""
    if why.kind is Kind.THIS_HOST:
        return []
    return [name for name in DECIDING if getattr(why.links, name).unknown]


def _what(slow: StretchFacts, why: Why, now_ns: int, zone: tzinfo | None) -> str:
    name, when = _name(slow, why), span_of(slow, now_ns, zone)
    verb = "have been" if slow.end_ns is None else "were"
    ops = op_word(slow.op)
    if slow.kind in _STOPPED or slow.kind == "lost":
        goes_on, over = _STOPPED.get(slow.kind, (f"{verb} late or missing",) * 2)
        return f"{ops} on {name} {goes_on if slow.end_ns is None else over} {when}"
    if slow.kind == "host_busy" and slow.factor is None:
        share = "" if slow.lost is None else f"{format_percent(slow.lost)} of "
        began = "have begun" if slow.end_ns is None else "began"
        return f"{share}{ops} on {name} {began} late or never {when}"
    if slow.hits is not None and slow.hits_usual is not None:
        what, still = f"the {ops} on {name}", slow.end_ns is None
        return say_few_hits(what, slow.hits, slow.hits_usual, when, goes_on=still)
    if slow.kind == "partly_slow" or slow.factor is None:
        return f"some {ops} on {name} {verb} slow {when}"
    if slow.kind == "change" and slow.factor.value < 1:
        return f"{ops} on {name} {verb} {format_factor(1 / slow.factor.value)}x faster {when}"
    lasting = "lastingly " if slow.kind == "change" else ""
    return f"{ops} on {name} {verb} {lasting}{format_factor(slow.factor.value)}x slower than usual {when}"


def _name(slow: StretchFacts, why: Why) -> str:
    """The target, or which of its servers."""
    part = why.links.component.found
    probed = part and part.precise and part.precise.source is PartSource.PROBED
    shared = part is not None or why.links.component.fact is not None
    return (
        f"{slow.whole}, server {slow.component},"
        if probed
        else slow.whole
        if shared
        else slow.target
    )


def span_of(slow: StretchFacts, now_ns: int, zone: tzinfo | None) -> str:
    """``from 00:12 to 00:54``, ``since 14:05``."""
    seconds = (slow.end_ns or slow.seen_until_ns) - slow.begin_ns < SHORT_NS
    since = format_time(slow.begin_ns, now_ns, zone, seconds=seconds)
    if slow.end_ns is None:
        return f"since {since}"
    span = format_span(slow.begin_ns, slow.end_ns, now_ns, zone, seconds=seconds)
    return f"at {since}" if span == since else f"from {span}"


def _cause(why: Why, now_ns: int, *, short: bool = False) -> str:
    """``short``: without what the lines say as well."""
    links = why.links
    parts, load, host = links.component.found, links.load.found, links.host.found
    if host is not None:
        if host.of_hosts and not host.busy:
            return f"{host.host} is the cause, {host.of_hosts - host.hosts} other hosts saw nothing"
        if host.woken:
            return f"no more than a processor of {host.host} takes to wake"
        return f"the processor of {host.host} was busy, not the storage"
    where = f", {_where(parts)}" if parts and parts.slow else ""
    along = "" if short else where
    who = _culprits(load, links) if load and load.culprits else ""
    back = links.recurrence.found
    told = {
        Kind.RECURRING: _recurs(back, "" if short else who),
        Kind.LASTING_CHANGE: f"{_lasting(links, now_ns)}{along}",
        Kind.SEVERAL: _several(links, who),
        Kind.ONE_JOB: f"{who}{along}",
        Kind.OVERLOAD: f"the load of all jobs together{'' if short else ', no single one stands out'}",
        Kind.EVERYTHING: _everything(links, short=short),
        Kind.SLOW_COMPONENT: where.removeprefix(", "),
    }
    return told.get(why.kind, f"no cause found{along}")


def _recurs(back: RecurrenceEvidence | None, who: str) -> str:
    text = "" if back is None else f"it recurs {recurrence_words(back)}"
    return f"{text}, {who}" if who else text


def _lasting(links: Links, now_ns: int) -> str:
    change = links.change.found
    if change is None or change.certain or change.since_ns is None:
        return "a change that lasts"
    return f"a level that has stayed for {about_length(now_ns - change.since_ns)}"


def _everything(links: Links, *, short: bool) -> str:
    parts = links.component.fact
    many = parts.all_slow + 1 if parts else 0
    end = "" if short else ", which points to the network or what they share"
    return f"all {many} targets were slow at once{end}"


def _several(links: Links, who: str) -> str:
    parts, load = links.component.found, links.load.found
    if parts and parts.precise and load and load.of_peers:
        name = parts.precise.name
        if load.culprits:
            return f"{name} is slow by itself, and {_culprits(load, links, 'slowed all servers')}"
        return f"{name} is slow by itself, and the load of all jobs slowed all servers"
    return who


def _where(parts: Parts) -> str:
    """``the 3 other servers are as usual``; it says what was seen, no cause."""
    part = parts.precise or parts.alone
    assert part is not None
    match part.source:
        case PartSource.PROBED:
            slow = part.peers_slow is not None and part.peers_slow >= 1.5
            return f"{_peers(part)} {'less slow' if slow else 'as usual'}"
        case PartSource.LOCATED:
            return f"{part.name} is slow in the run {part.run}"
        case PartSource.SERVERS:
            return f"{part.name} stands out in the servers' records"
        case _:
            if part.peers_too:
                are = "is" if part.peers == 1 else "are"
                return f"{part.peers} of {part.peers + part.peers_too} other targets {are} as usual"
            others = "target is" if part.peers == 1 else f"{part.peers} targets are"
            return f"the other {others} as usual"


def _peers(part: SlowPart) -> str:
    return "the other server is" if part.peers == 1 else f"the other {part.peers} servers are"


def _culprits(load: LoadEvidence, links: Links, did: str = "caused most of it") -> str:
    """``job 4711 caused most of it``, or a weaker word: the host is not known, or only operations speak for it."""
    sure = [one for one in load.culprits if one.confidence is not Confidence.OPERATIONS]
    largest = [one for one in load.culprits if one not in sure]
    made = f"{_together(largest)} made {format_percent(_ops(largest))} of the operations"
    if not sure:
        return made
    weak = links.host.unknown or sure[0].confidence is not Confidence.MOST
    verb = "were" if len(sure) > 1 else "was"
    text = f"{_together(sure)} {f'{verb} probably involved' if weak else did}"
    return f"{text}, {made}" if largest else text


def _together(culprits: Sequence[Culprit]) -> str:
    """``job 4711``, ``jobs 4711 and 4712 and 1 more``."""
    names = [one.name for one in culprits[:2]]
    if len(culprits) < 2:
        return "".join(names)
    more = f" and {len(culprits) - 2} more" if len(culprits) > 2 else ""
    by = culprits[0].by
    return f"{by}s {' and '.join(name.removeprefix(f'{by} ') for name in names)}{more}"


def _ops(culprits: Sequence[Culprit]) -> float:
    return sum(one.ops_share or 0.0 for one in culprits)


def recurrence_words(back: RecurrenceEvidence) -> str:
    """When it comes back, and how often it did."""
    assert back.span is not None
    unit = "weeks" if back.period_h == 168 else "days"
    return f"{_span(back)} ({back.seen} of {back.of} {unit})"


def _span(back: RecurrenceEvidence) -> str:
    assert back.span is not None
    whole = Recurring(
        *("", "", "", back.period_h or 24, back.span, back.zone, back.seen, back.of),
        *(None, 1.0, 1.0, 1.0, back.sure),
    )
    zone = f" {back.zone}" if back.zone else ""
    return span_words(whole) + zone


def counted(n: int, noun: str) -> str:
    """``1 job``, ``3 jobs``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
