"""Words about a scheduler's job: one sentence, then details, at most 25 words each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.scheduled.storage import LEVELS
from iosonde.model.amounts import amount, scale_of
from iosonde.model.ops import op_word
from iosonde.model.units import (
    about_length,
    format_factor,
    format_percent,
    format_size,
    to_datetime,
)
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.words import say_event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from iosonde.jobs.scheduled.own_io import OwnIo
    from iosonde.jobs.scheduled.run_time import RunTime
    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.jobs.scheduled.storage import StorageTime
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.model.events import SlowEvent

_MOST_TARGETS = 5
_MOST_EVENTS = 5
_MOST_OPS = 3
_TOLD_UNKNOWN = 0.01
"""Least share of unknown time in a run that is mentioned."""
_MINUTE_NS = 60_000_000_000


@dataclass(frozen=True)
class StoryWords:
    """The sentence, and details by topic; topics without details are empty."""

    sentence: str
    job: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    run_time: tuple[str, ...] = ()
    own_io: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """All details."""
        return (*self.job, *self.storage, *self.events, *self.run_time, *self.own_io)


def say_story(story: ScheduledStory, zone: tzinfo | None = None) -> StoryWords:
    """All words about a run; times are in ``zone`` (None: this machine's)."""
    run = story.run
    return StoryWords(
        _sentence(story),
        _about(run, zone),
        say_storage(story.storage),
        _events(story, zone),
        () if story.run_time is None else (say_run_time(story.run_time, run),),
        () if story.own_io is None else _own(story.own_io),
    )


def _sentence(story: ScheduledStory) -> str:
    run, storage = story.run, story.storage
    what = f"job {run.job.written_id}"
    if run.span_ns is None:
        return f"{what} {_no_time(run)}"
    took = _took(run)
    if not storage:
        return (
            f"{what} ran {took}; the store has no probe of any file system, so storage is unknown"
        )
    worst = storage[0]
    if worst.slow_ns:
        return f"{what}: {_slow(worst)} of its {took}, {op_word(worst.ops[0].op)} most{_unknown(worst)}"
    return f"{what}{_without_stretch(story, took)}"


def _without_stretch(story: ScheduledStory, took: str) -> str:
    """Storage without slow stretches: events, what is not known, or that it was as usual."""
    storage, span = story.storage, story.run.span_ns
    names = _names([one.target for one in storage if one.clear_ns])
    if not names:
        missing = _names([one.target for one in storage])
        return f" ran {took}; no probe judged {missing} meanwhile, so storage is unknown"
    most = max(storage, key=lambda one: one.unknown_ns if one.clear_ns else 0)
    if (event := _short_event(story)) and span is not None:
        return f": {_say_short(event, span)} of its {took}{_unknown(most)}"
    if most.unknown_ns > most.clear_ns:
        unknown = about_length(most.unknown_ns)
        return (
            f": storage unknown for {unknown} of its {took}; no slow stretch on {names} otherwise"
        )
    return f": no slow stretch on {names} in its {took}{_unknown(most)}"


def _short_event(story: ScheduledStory) -> SlowEvent | None:
    """The worst event of storage that had no slow stretch: a burst, or a part of the operations."""
    found = story.happened
    some = [] if found is None else [one for one in found.slow if one.kind != "change"]
    return max(some, key=lambda one: (one.kind == "hang", one.peak or 0.0), default=None)


def _say_short(event: SlowEvent, span_ns: tuple[int, int]) -> str:
    """``writes on /work were 303x slow for 75 s``, within the run."""
    begin, end = (
        min(max(at, span_ns[0]), span_ns[1]) for at in (event.start_ns, event.seen_until_ns)
    )
    lasted = f"for {about_length(max(1, end - begin))}"
    if not event.ops:
        return f"some operations on {event.target} were slow {lasted}"
    worst = event.ops[0]
    what = f"{op_word(worst.op)} on {event.target}"
    if event.kind == "hang":
        return f"{what} hung {lasted}"
    if event.kind == "slow":
        return f"{what} were {format_factor(worst.median)}x slow {lasted}"
    return f"some {what} were {'late' if event.kind == 'lost' else 'slow'} {lasted}"


def _no_time(run: ScheduledRun) -> str:
    """Reason why there is no time to query."""
    state = f" ({run.job.state})" if run.job.state else ""
    if run.begin_ns is None:
        waits = run.job.state in ("", "PENDING", "CONFIGURING", "REQUEUED")
        return f"has not begun{state}" if waits else f"never ran{state}"
    if run.end_ns is None:
        return f"ended{state}, but no record has its end, so its run time is unknown"
    return f"took no time{state}: its end is not after its begin"


def _took(run: ScheduledRun) -> str:
    length = (run.end_ns or 0) - (run.begin_ns or 0)
    when = " so far" if run.going_on else " until its last record" if run.stale else ""
    return about_length(length) + when


def _slow(one: StorageTime) -> str:
    """``/work was at least 3x slow for 41 min``; of ops that did not answer ``/work hung for 5 min``."""
    told = one.told
    if np.isinf(one.ops[0].typ) and told.level == LEVELS[-1]:
        return f"{one.target} hung for {about_length(told.slow_ns)}"
    return f"{one.target} was at least {told.level:.0f}x slow for {about_length(told.slow_ns)}"


def _unknown(one: StorageTime) -> str:
    whole = one.slow_ns + one.clear_ns + one.unknown_ns
    if one.unknown_ns < _TOLD_UNKNOWN * whole or one.unknown_ns < _MINUTE_NS:
        return ""
    return f"; not known for {about_length(one.unknown_ns)} of it"


def _names(names: Sequence[str], most: int = 3) -> str:
    some = list(names[:most])
    if len(names) > most:
        some.append(f"{len(names) - most} more")
    return (
        some[0]
        if len(some) == 1
        else " and ".join([", ".join(some[:-1]), some[-1]])
        if some
        else ""
    )


def _about(run: ScheduledRun, zone: tzinfo | None) -> tuple[str, ...]:
    job = run.job
    who = " ".join(word for word in (job.name, f"of {job.user}" if job.user else "") if word)
    if job.account:
        who += f" (account {job.account})"
    sizes = [(job.nodes, "node"), (job.ranks, "rank")]
    size = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in sizes if n]
    size += [f"cluster {job.system}"] if job.system else []
    size += [f"raw id {job.job_id}"] if job.shown_id else []
    lines = [", ".join(word for word in (who, *size) if word)]
    if run.begin_ns is not None:
        state = f", {job.state}" if job.state else ""
        lines.append(f"ran from {_instant(run.begin_ns, zone)} to {_end(run, zone)}{state}")
    if run.going_on:
        lines.append("its records have no end: taken as running until now")
    if run.stale:
        lines.append("whether it still runs is not known: import newer records of the scheduler")
    if run.of > 1:
        lines.append(f"run {run.number} of {run.of} with this id; --step '#1' shows the first")
    return tuple(line for line in lines if line)


def _end(run: ScheduledRun, zone: tzinfo | None) -> str:
    if run.going_on:
        return "now"
    if run.end_ns is None:
        return "an unknown end"
    return f"{'at least ' if run.stale else ''}{_instant(run.end_ns, zone)}"


def _instant(ns: int, zone: tzinfo | None) -> str:
    """Instant with day and zone, as mail may be read later."""
    return f"{to_datetime(ns, zone):%Y-%m-%d %H:%M:%S %Z}".strip()


def say_storage(storage: Sequence[StorageTime]) -> tuple[str, ...]:
    """A line per target, the slowest first, and reasons for unknown time."""
    lines: list[str] = []
    for one in storage[:_MOST_TARGETS]:
        lines.append(say_target(one))
        lines += _why_unknown(one)
    if more := len(storage) - _MOST_TARGETS:
        lines += [f"{more} more targets were not slower"] if more > 0 else []
    return tuple(lines)


def say_target(one: StorageTime) -> str:
    """``/work was at least 3x slow for 41 min (39 min to 42 min), 45 min slow in all; reads 4.1x``."""
    if not one.slow_ns:
        if not one.clear_ns:
            return f"{one.target}: unknown"
        return f"{one.target}: no slow stretch in {about_length(one.clear_ns)} that probes judged"
    told = one.told
    bounds = f"{about_length(told.least_ns)} to {about_length(told.most_ns)}"
    ops = ", ".join(_op(op.op, op.typ) for op in one.ops[:_MOST_OPS])
    text = f"{_slow(one)} ({bounds}), {about_length(one.slow_ns)} slow in all"
    return f"{text}; {ops}"


def _op(op: str, typ: float) -> str:
    return f"{op_word(op)} no answer" if np.isinf(typ) else f"{op_word(op)} {format_factor(typ)}x"


def _why_unknown(one: StorageTime) -> list[str]:
    if not _unknown(one):
        return []
    rest = one.unknown_ns - one.unprobed_ns - one.busy_ns
    parts = [
        (one.unprobed_ns, "no probe ran"),
        (one.busy_ns, "the probing host was busy"),
        (rest, "too few operations or no baseline yet"),
    ]
    told = [f"{about_length(ns)} {why}" for ns, why in parts if ns >= _MINUTE_NS]
    return [f"{one.target} is unknown for {about_length(one.unknown_ns)}: {', '.join(told)}"]


def _events(story: ScheduledStory, zone: tzinfo | None) -> tuple[str, ...]:
    """Worst events during the run, in time order; sentences of one event stay together."""
    found = story.happened
    if found is None:
        return ()
    worst = sorted(found.slow, key=lambda one: -(one.peak or 0.0))[:_MOST_EVENTS]
    told = [(one.start_ns, say_slow_event(one, story.asked_ns, zone)) for one in worst]
    noted = found.logged[: _MOST_EVENTS - len(told)]
    told += [
        (one.began_ns, say_event(one, story.asked_ns, running=False, zone=zone)) for one in noted
    ]
    lines = [text for _, text in sorted(told)]
    more = len(found.slow) + len(found.logged) - len(lines)
    if more > 0:
        lines.append(f"{more} more event{'' if more == 1 else 's'}: 'iosonde events' lists them")
    return tuple(lines)


def say_run_time(time: RunTime, run: ScheduledRun) -> str:
    """``it took 18 h, longer than 96% (86-99%) of 48 earlier runs on 2 nodes (median 12 h)``."""
    took = about_length(time.run_s * 1e9)
    verb = f"it has run {took}" if time.going_on else f"it took {took}"
    if not (run.job.name and run.job.user):
        return f"{verb}; its records name no user or no job, so earlier runs are unknown"
    size = "" if time.nodes is None else f" on {time.nodes} node{'' if time.nodes == 1 else 's'}"
    if time.share is None or time.share_lower is None or time.share_upper is None:
        runs = "1 earlier run" if time.n == 1 else f"{time.n or 'no'} earlier runs"
        other = f" ({time.others} of other sizes)" if time.others else ""
        return f"{verb}; {runs} of this name and user{size}{other}: too few to compare"
    already = "already " if time.going_on else ""
    bounds = f"{format_percent(time.share_lower)} to {format_percent(time.share_upper)}"
    among = {1.0: "longer than all", 0.0: "shorter than all"}.get(
        time.share, f"longer than {format_percent(time.share)} ({bounds}) of"
    )
    usual = about_length((time.median_s or 0.0) * 1e9)
    return f"{verb}, {already}{among} {time.n} earlier runs{size} (median {usual})"


def _own(own: OwnIo) -> tuple[str, ...]:
    parts = []
    if own.operations is not None:
        parts.append(amount(own.operations, scale_of("operations", [own.operations])))
    parts += [
        f"{format_size(value)} {word}"
        for value, word in ((own.read_bytes, "read"), (own.written_bytes, "written"))
        if value is not None
    ]
    where = "by its own counters" if own.origin == "job" else f"on {own.nodes} nodes"
    where = where.replace("on 1 nodes", "on 1 node")
    whose = "its own I/O" if own.alone else "I/O of its nodes, other jobs included"
    lines = [f"{whose}, {where} ({', '.join(own.sources)}): {', '.join(parts) or 'unknown'}"]
    if own.bytes_per_s is not None and own.active_s is not None:
        rate = amount(own.bytes_per_s, scale_of("bytes/s", [own.bytes_per_s])).replace(" /s", "/s")
        whose = "server counters of the job" if own.origin == "job" else "counters of its nodes"
        steps = "" if own.step_s is None else f" by steps of {about_length(own.step_s * 1e9)}"
        lines.append(
            f"I/O rate {rate} over {about_length(own.active_s * 1e9)} in which it moved bytes,{steps} from {whose}"
        )
    if own.covered < 1 - _TOLD_UNKNOWN:
        lines.append(f"records cover {format_percent(own.covered)} of that time: at least so much")
    if own.shared and own.alone:
        lines.append(f"left out: {own.shared} nodes that it shared with other jobs")
    if own.missing:
        lines.append(f"{own.missing} of its nodes have no records")
    return tuple(lines)
