"""The sentence of ``why`` and its evidence. The sentence has at most ``MOST_WORDS`` words, a line one link.

A link that is not known is named at the sentence's end, and takes the strong word from what stands on it: without
control of the host a job "was probably involved".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.attribution.culprits import Confidence
from iosonde.model.events import Recurring
from iosonde.model.ops import op_word
from iosonde.model.text import clean_text
from iosonde.model.units import (
    about_length,
    format_duration,
    format_factor,
    format_percent,
    format_time,
)
from iosonde.weather.events.words import span_words
from iosonde.why.component import CEILING
from iosonde.why.links import Gap, Kind, PartSource

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.why.links import (
        Culprit,
        Link,
        Links,
        LoadEvidence,
        Parts,
        Ratio,
        RecurrenceEvidence,
        Remedy,
        SlowPart,
        StretchFacts,
        Why,
    )

MOST_WORDS = 30
SHORT_NS = 600_000_000_000
"""Of shorter stretches the seconds are said."""
DECIDING = ("component", "load", "host", "recurrence", "change")
"""Links that the verdict stands on, in the order in which the sentence names those that are not known."""
_GAPS = {
    Gap.NOTHING_SLOW: "nothing is slow",
    Gap.NO_WINDOWS: "no window of the stretch is judged",
    Gap.SHORT_HISTORY: "less than four days of history",
    Gap.NOTHING_BESIDE: "one target is probed, no run touched it, and no server records were imported",
    Gap.PEERS_UNKNOWN: "no part was probed beside it in the stretch, and no server records were imported",
    Gap.NO_RECORDS: "no records of nodes or jobs cover the stretch",
    Gap.PART_OF_RECORDS: "records cover too little of the nodes' time",
    Gap.FEW_SLOTS: "too few slots have both probe and records",
    Gap.ALIKE: "several jobs have the same course of load",
    Gap.NO_CONTROL: "samples do not say how long the prober waited for a processor",
    Gap.LEARNING: "what is usual was still being learnt",
    Gap.NO_LOAD: "no load explains it, so no queue is to blame",
    Gap.FEW_LOADS: "too few reads at different loads for the queue model",
    Gap.NO_FIT: "the queue model does not explain the reads",
    Gap.NOT_ASKED: "the queue model was not fitted",
}


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


class LinkLine(NamedTuple):
    """One line of the evidence. ``link``: its name, empty where it is about none; ``text``: without that name."""

    link: str
    text: str

    def __str__(self) -> str:
        return f"{self.link}: {self.text}" if self.link else self.text


def lines(why: Why, now_ns: int, zone: tzinfo | None = None) -> list[str]:
    """A line a link: what it says with its number and interval, or why it is not known."""
    return [str(line) for line in link_lines(why, now_ns, zone)]


def link_lines(why: Why, now_ns: int, zone: tzinfo | None = None) -> list[LinkLine]:
    """The same with the link's name apart."""
    slow, links = why.links.slowness.found, why.links
    if slow is None:
        names = _some(why.looked.targets)
        told = [LinkLine("", f"looked at {names}, seen from {_some(why.looked.hosts)}")]
        if why.looked.learning:
            few = _some(why.looked.learning)
            told.append(LinkLine("", f"not judged, as what is usual is learnt: {few}"))
        return [_clean(line) for line in told]
    told = [
        _slowness(slow, now_ns, zone),
        _line("recurrence", links.recurrence, _recurrence(links.recurrence.fact)),
        _line("component", links.component, _parts(links.component, slow)),
        _line("load", links.load, _load(links)),
        _line("host", links.host, _host(links)),
        _line("change", links.change, _change(links, now_ns, zone)),
        _line("remedy", links.remedy, _remedy(links.remedy.fact)),
    ]
    if why.others:
        told.append(LinkLine("beside", f"{_some(why.others)} had slow stretches, too"))
    return [_clean(line) for line in told]


def _clean(line: LinkLine) -> LinkLine:
    return line._replace(text=clean_text(line.text))


def _nothing(why: Why, now_ns: int, zone: tzinfo | None) -> str:
    looked = why.looked
    targets, hosts = len(looked.targets), len(looked.hosts)
    begin, end = (format_time(ns, now_ns, zone) for ns in (looked.begin_ns, looked.end_ns))
    seen = f"{_many(targets, 'target')} from {_many(hosts, 'host')}"
    if looked.learning and set(looked.learning) == set(looked.targets):
        return f"nothing is judged yet: what is usual of {seen} was being learnt until {end}"
    return f"nothing is slow: no slow stretch of {seen} between {begin} and {end}"


def _missing(why: Why) -> list[str]:
    """Deciding links that are not known; none where the host explains it and the rest does not matter."""
    if why.kind is Kind.THIS_HOST:
        return []
    return [name for name in DECIDING if getattr(why.links, name).unknown]


def _what(slow: StretchFacts, why: Why, now_ns: int, zone: tzinfo | None) -> str:
    part = why.links.component.found
    probed = part and part.precise and part.precise.source is PartSource.PROBED
    shared = part is not None or why.links.component.fact is not None
    name = (
        f"{slow.whole}, server {slow.component},"
        if probed
        else slow.whole
        if shared
        else slow.target
    )
    verb = "have been" if slow.end_ns is None else "were"
    when = _when(slow, now_ns, zone)
    ops = op_word(slow.op)
    if slow.kind == "hang":
        return f"{ops} on {name} {'have hung' if slow.end_ns is None else 'hung'} {when}"
    if slow.kind == "failing":
        return f"{ops} on {name} {'have failed' if slow.end_ns is None else 'failed'} {when}"
    if slow.kind == "lost":
        return f"{ops} on {name} {verb} late or missing {when}"
    if slow.kind == "partly_slow" or slow.factor is None:
        return f"some {ops} on {name} {verb} slow {when}"
    if slow.kind == "change" and slow.factor.value < 1:
        return f"{ops} on {name} {verb} {format_factor(1 / slow.factor.value)}x faster {when}"
    lasting = "lastingly " if slow.kind == "change" else ""
    return f"{ops} on {name} {verb} {lasting}{format_factor(slow.factor.value)}x slower than usual {when}"


def _when(slow: StretchFacts, now_ns: int, zone: tzinfo | None) -> str:
    seconds = (slow.end_ns or slow.seen_until_ns) - slow.begin_ns < SHORT_NS
    since = format_time(slow.begin_ns, now_ns, zone, seconds=seconds)
    if slow.end_ns is None:
        return f"since {since}"
    until = format_time(slow.end_ns, now_ns, zone, seconds=seconds)
    if since[:10] == until[:10] and len(until) > 10:
        until = until[11:]
    return f"at {since}" if since == until else f"from {since} to {until}"


def _cause(why: Why, now_ns: int, *, short: bool = False) -> str:
    """``short``: without what the lines say as well."""
    links = why.links
    parts, load, host = links.component.found, links.load.found, links.host.found
    if host is not None:
        if host.of_hosts and not host.busy:
            return f"{host.host} is the cause, {host.of_hosts - host.hosts} other hosts saw nothing"
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
        Kind.SLOW_COMPONENT: where.removeprefix(", "),
    }
    return told.get(why.kind, f"no cause found{along}")


def _recurs(back: RecurrenceEvidence | None, who: str) -> str:
    text = "" if back is None else f"it recurs {_back(back)}"
    return f"{text}, {who}" if who else text


def _lasting(links: Links, now_ns: int) -> str:
    change = links.change.found
    if change is None or change.certain or change.since_ns is None:
        return "a change that lasts"
    return f"a level that has stayed for {about_length(now_ns - change.since_ns)}"


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
            others = "target is" if part.peers == 1 else f"{part.peers} targets are"
            return f"the other {others} as usual"


def _peers(part: SlowPart) -> str:
    return "the other server is" if part.peers == 1 else f"the other {part.peers} servers are"


def _culprits(load: LoadEvidence, links: Links, did: str = "caused most of it") -> str:
    """``job 4711 caused most of it``, or a weaker word where the host is not known."""
    weak = links.host.unknown or load.culprits[0].confidence is not Confidence.MOST
    names = [one.job for one in load.culprits[:2]]
    if len(load.culprits) > 1:
        more = f" and {len(load.culprits) - 2} more" if len(load.culprits) > 2 else ""
        joined = f"jobs {' and '.join(names)}{more}"
        return f"{joined} were probably involved" if weak else f"{joined} {did}"
    return f"job {names[0]} was probably involved" if weak else f"job {names[0]} {did}"


def _back(back: RecurrenceEvidence) -> str:
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


def _line(name: str, link: Link[Any], text: str) -> LinkLine:
    return LinkLine(name, text if link.gap is None else f"not known: {_GAPS[link.gap]}")


def _slowness(slow: StretchFacts, now_ns: int, zone: tzinfo | None) -> LinkLine:
    parts = []
    if slow.kind == "hang":
        lasted = (slow.end_ns or slow.seen_until_ns) - slow.begin_ns
        parts.append(f"{op_word(slow.op)} did not answer for {about_length(lasted)}")
    if slow.factor is not None:
        parts.append(f"{op_word(slow.op)} {_ratio(slow.factor)}")
    if slow.peak is not None:
        parts.append(f"at worst {format_factor(slow.peak)}x")
    if slow.lost:
        parts.append(f"{format_percent(slow.lost)} late or missing")
    if slow.windows:
        parts.append(f"{slow.windows} windows")
    what = ", ".join(parts) or slow.kind.replace("_", " ")
    return LinkLine("slowness", f"{what}, seen from {slow.host} {_when(slow, now_ns, zone)}")


def _ratio(ratio: Ratio, unit: str = "x") -> str:
    if ratio.lower != ratio.lower or ratio.upper != ratio.upper:
        return f"{format_factor(ratio.value)}{unit}"
    low, high = format_factor(ratio.lower), format_factor(ratio.upper)
    return f"{format_factor(ratio.value)}{unit} ({low}-{high})"


def _recurrence(back: RecurrenceEvidence | None) -> str:
    if back is None:
        return ""
    if back.span is None:
        return f"nothing like it came back in {about_length(back.looked_ns)}"
    few = "" if back.sure else ", too few to be sure"
    return f"{_back(back)}{few}"


def _parts(link: Link[Parts], slow: StretchFacts) -> str:
    parts = link.fact
    if parts is None:
        return ""
    if not parts.slow:
        looked = "; ".join(f"{n} of {source}" for source, n in parts.looked)
        return f"no part stands out ({looked})"
    return "; ".join(_part(part, slow) for part in parts.slow)


def _part(part: SlowPart, slow: StretchFacts) -> str:
    match part.source:
        case PartSource.PROBED | PartSource.BESIDE:
            beside = (
                f"{part.peers} other {'servers' if part.source is PartSource.PROBED else 'targets'}"
            )
            own = f" ({format_factor(part.peers_slow)}x slower than usual)"
            if part.against_peers.value * max(part.peers_slow or 1.0, 1.0) >= CEILING:
                return f"{part.name} did not answer, {beside} did{own}"
            return f"{part.name} {_ratio(part.against_peers)} slower than {beside}{own}"
        case PartSource.LOCATED:
            took = _ratio(part.against_peers)
            return f"{part.name} took {took} as long as {part.peers} others in the run {part.run}"
        case _:
            now, usual = part.value or 0.0, part.usual or 0.0
            ratio = _ratio(part.against_peers)
            beside = f"{ratio} that of {part.peers} others of {slow.whole}"
            return f"{part.name} had {part.metric} {now:.3g} (usually {usual:.3g}), {beside}"


def _load(links: Links) -> str:
    load = links.load.fact
    if load is None:
        return ""
    rate = f"{load.per_s:,.0f} operations/s of {_many(load.jobs, 'job')}"
    course = ", of what all servers share" if load.of_peers else ""
    if load.culprits:
        return "; ".join(_culprit(one) for one in load.culprits) + f" ({rate}{course})"
    if load.together:
        return f"the sum of all loads explains it, no single job does ({rate}{course})"
    if load.dismissed:
        one = load.dismissed[0]
        share = f"{format_percent(one.share.value)} of its course"
        return f"job {one.job} fits {share}, but servers that share its load are as usual ({rate})"
    return f"no job explains its course ({rate}{course}; p = {load.p:.2g})"


def _culprit(one: Culprit) -> str:
    low, high = format_percent(one.share.lower), format_percent(one.share.upper)
    share = f"{format_percent(one.share.value)} ({low}-{high}) of it"
    whose = f" of {one.user}" if one.user else ""
    ops = "" if one.ops_share is None else f", {format_percent(one.ops_share)} of the operations"
    return f"job {one.job}{whose} {one.confidence}: {share}{ops}"


def _host(links: Links) -> str:
    host = links.host.fact
    if host is None:
        return ""
    told = f"the run queue of {host.host} explains {host.busy} of {host.slow} slow windows"
    if not host.of_hosts:
        return told
    return f"{told}; {host.hosts} of {host.of_hosts} hosts saw it"


def _change(links: Links, now_ns: int, zone: tzinfo | None) -> str:
    change = links.change.fact
    if change is None or change.since_ns is None:
        return "no lasting change began with it"
    since = format_time(change.since_ns, now_ns, zone)
    certain = "" if change.certain else ", which the baseline does not know yet"
    return f"{format_factor(change.factor)}x the level before since {since}{certain}"


def _remedy(remedy: Remedy | None) -> str:
    if remedy is None:
        return ""
    now, then = _seconds(remedy.now_s), _seconds(remedy.then_s)
    at = f"at {remedy.load_per_s:,.0f} operations/s the median read takes {now}"
    if remedy.without_job:
        return f"{at}; without job {remedy.without_job} ({remedy.then_per_s:,.0f}/s) {then}"
    held = "" if remedy.queue is None else f" of {remedy.queue:,.0f}"
    return f"{at}; with a queue of {remedy.then_queue:,}{' instead' if held else ''}{held} {then}"


def _seconds(ratio: Ratio) -> str:
    value, low, high = (format_duration(1e9 * end) for end in ratio)
    return value if "n/a" in (low, high) else f"{value} ({low} to {high})"


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _some(names: tuple[str, ...], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
