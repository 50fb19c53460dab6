"""Words about a scheduler's job: one sentence, then details, at most 25 words each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.jobs.scheduled.target_words import (
    TOLD_UNKNOWN,
    say_slow,
    say_storage,
    say_unknown,
    say_untold,
)
from iosonde.model.amounts import amount, scale_of
from iosonde.model.ops import op_word
from iosonde.model.units import (
    about_length,
    format_percent,
    format_size,
    to_datetime,
)
from iosonde.model.verdicts import Reason
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import say_not_judged
from iosonde.weather.events.words import say_event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from iosonde.jobs.scheduled.event_time import Untold
    from iosonde.jobs.scheduled.own_io import OwnIo
    from iosonde.jobs.scheduled.run_time import RunTime
    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.jobs.scheduled.storage_time import StorageTime
    from iosonde.jobs.scheduled.story import ScheduledStory

_MOST_EVENTS = 5


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
    event = next(((one, event) for one in storage for event in one.untold), None)
    if event is not None and _outweighs(event[1], worst):
        told = say_untold(event[1], event[0].target)
        return f"{what}: {told} of its {took}{say_unknown(event[0])}"
    if worst.slow_ns:
        most = "" if worst.silent else f", {op_word(worst.worst_op.op)} most"
        return f"{what}: {say_slow(worst)} of its {took}{most}{say_unknown(worst)}"
    return f"{what}{_without_stretch(storage, took)}"


def _without_stretch(storage: Sequence[StorageTime], took: str) -> str:
    """Storage that was not slow: what is not known, or that it was as usual."""
    names = _names([one.target for one in storage if one.clear_ns])
    if not names:
        missing = _names([one.target for one in storage])
        return f" ran {took}; no probe judged {missing} meanwhile, so storage is unknown"
    most = max(storage, key=lambda one: one.unknown_ns if one.clear_ns else 0)
    if most.unknown_ns > most.clear_ns:
        unknown = about_length(most.unknown_ns)
        return (
            f": storage unknown for {unknown} of its {took}; no slow stretch on {names} otherwise"
        )
    return f": no slow stretch on {names} in its {took}{say_unknown(most)}"


def _outweighs(event: Untold, worst: StorageTime) -> bool:
    """Whether it is told instead of the slow time: there is none, or operations were lost for longer."""
    return not worst.slow_ns or (event.kind == "lost" and event.length_ns > worst.slow_ns)


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


def _events(story: ScheduledStory, zone: tzinfo | None) -> tuple[str, ...]:
    """Worst events during the run, in time order; sentences of one event stay together."""
    found = story.happened
    if found is None:
        return ()
    young = [one for one in found.not_judged if one.reason is Reason.LEARNING and not one.blind]
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
    return (*lines, *say_not_judged(young, story.asked_ns, zone))


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
    if own.covered < 1 - TOLD_UNKNOWN:
        lines.append(f"records cover {format_percent(own.covered)} of that time: at least so much")
    if own.shared and own.alone:
        lines.append(f"left out: {own.shared} nodes that it shared with other jobs")
    if own.missing:
        lines.append(f"{own.missing} of its nodes have no records")
    return tuple(lines)
