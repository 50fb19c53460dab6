"""Evidence of ``why``: a line a link, with its number and interval, or why it is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.ops import op_word
from iosonde.model.text import clean_text
from iosonde.model.units import (
    about_length,
    format_duration,
    format_factor,
    format_percent,
    format_time,
)
from iosonde.weather.events.unjudged_words import say_not_judged
from iosonde.weather.peers.words import say_peer
from iosonde.why.component import CEILING
from iosonde.why.links import Gap, PartSource
from iosonde.why.words import counted, recurrence_words, span_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.why.links import (
        Culprit,
        Link,
        Links,
        Parts,
        Ratio,
        RecurrenceEvidence,
        Remedy,
        SlowPart,
        StretchFacts,
        Why,
    )

_MOST_PEERS = 5
REASONS = {
    Gap.NOTHING_SLOW: "nothing is slow",
    Gap.NO_WINDOWS: "no window of the stretch is judged",
    Gap.SHORT_HISTORY: "less than four days of history",
    Gap.NOTHING_BESIDE: "one target is probed, no run touched it, and no server records were imported",
    Gap.PEERS_UNKNOWN: "nothing beside it was judged by the same operation, and no server records were imported",
    Gap.NO_RECORDS: "no records of nodes or jobs cover the stretch",
    Gap.PART_OF_RECORDS: "records cover too little of the nodes' time",
    Gap.FEW_SLOTS: "too few slots have both probe and records",
    Gap.NO_COURSE: "what answered was not slow enough to compare its course with the load",
    Gap.ALIKE: "several jobs have the same course of load",
    Gap.NO_CONTROL: "samples do not say how long the prober waited for a processor",
    Gap.LEARNING: "what is usual was still being learnt",
    Gap.NO_LOAD: "no load explains it, so the queue model has nothing to change",
    Gap.FEW_LOADS: "too few reads at different loads for the queue model",
    Gap.NO_FIT: "the queue model does not explain the reads",
    Gap.NEVER_FULL: "no read met a full queue, so its length is not known",
    Gap.NOT_ASKED: "the queue model was not fitted",
}


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
        for text in say_not_judged(why.looked.not_judged, now_ns, zone):
            told.append(LinkLine("", text))
        told += [
            LinkLine("", say_peer(one, now_ns, zone)) for one in why.looked.peers[:_MOST_PEERS]
        ]
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


def _line(name: str, link: Link[Any], text: str) -> LinkLine:
    return LinkLine(name, text if link.gap is None else f"not known: {REASONS[link.gap]}")


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
    return LinkLine("slowness", f"{what}, seen from {slow.host} {span_of(slow, now_ns, zone)}")


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
    return f"{recurrence_words(back)}{few}"


def _parts(link: Link[Parts], slow: StretchFacts) -> str:
    parts = link.fact
    if parts is None:
        return ""
    if parts.all_slow:
        return f"no part stands out: all {parts.all_slow} other targets were slow, too"
    if not parts.slow:
        looked = "; ".join(f"{n} of {source}" for source, n in parts.looked)
        return f"no part stands out ({looked})"
    return "; ".join(_part(part, slow) for part in parts.slow)


def _part(part: SlowPart, slow: StretchFacts) -> str:
    match part.source:
        case PartSource.PROBED | PartSource.BESIDE:
            noun = "server" if part.source is PartSource.PROBED else "target"
            beside = counted(part.peers, f"other {noun}")
            take, their = ("takes", "its") if part.peers == 1 else ("take", "their")
            own = f" (which {take} {format_factor(part.peers_slow)}x {their} usual time)"
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
    rate = f"{load.per_s:,.0f} operations/s of {counted(load.jobs, 'job')}"
    course = ", of what all servers share" if load.of_peers else ""
    if load.culprits:
        return "; ".join(_culprit(one) for one in load.culprits) + f" ({rate}{course})"
    if load.together:
        return f"the sum of all loads explains it, no single job does ({rate}{course})"
    if load.dismissed:
        one = load.dismissed[0]
        part = "" if one.share is None else f" {format_percent(one.share.value)} of"
        return f"{one.name} fits{part} its course, but servers that share its load are as usual ({rate})"
    return f"no job explains its course ({rate}{course}; p = {load.p:.2g})"


def _culprit(one: Culprit) -> str:
    said = []
    if one.share is not None:
        low, high = format_percent(one.share.lower), format_percent(one.share.upper)
        said.append(f"{format_percent(one.share.value)} ({low}-{high}) of it")
    if one.ops_share is not None:
        said.append(f"{format_percent(one.ops_share)} of the operations")
    whose = f" of {one.user}" if one.user and one.by == "job" else ""
    return f"{one.name}{whose} {one.confidence}: {', '.join(said)}"


def _host(links: Links) -> str:
    host = links.host.fact
    if host is None:
        return ""
    if links.host.found is not None and not host.slow and not host.of_hosts:
        return f"{host.host} began operations late whose lanes were free"
    if host.woken:
        return f"what is added is no more than a processor of {host.host} takes to wake"
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


def _some(names: tuple[str, ...], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
