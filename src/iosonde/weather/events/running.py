"""Verdicts of running probes in the events of their samples: while a stretch goes on the agent decides for every door.

::

    agent      slow since 14:05:00, 3.1x over the stretch     state file, `now`, `check`, /metrics
    samples    an event, open, with ops                       begin, factor and interval of slow ops: the agent's
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from iosonde.model.events import OpShare, SlowEvent
from iosonde.weather.slowdown.findings import from_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from iosonde.weather.slowdown.findings import Finding, OpVerdict

_JUDGED = ("usual", "host_busy", "slow", "lost")
"""Findings that say of every operation whether it is slow; where some hang or fail, samples and the log tell."""
_KINDS = ("slow", "partly_slow", "lost")
_AGAIN_NS = 60 * 10**9
"""An op that fails since so long after its event began had answered in between."""


def with_verdict(
    events: Sequence[SlowEvent], state: Mapping[str, Any], last_ns: int, now_ns: int
) -> list[SlowEvent]:
    """Events of one place as its running probe judges what goes on.

    ``last_ns``: due instant of the last sample. A slow op has the agent's begin, factor and interval; an event none of
    whose ops is slow or lost now is over. Missing data: a probe that is stale or stopped decides nothing.
    """
    found = from_state(dict(state), now_ns)
    if found.kind == "failing":
        return _with_failures(events, found, last_ns)
    if found.kind not in _JUDGED:
        return list(events)
    bad = {one.op: one for one in found.ops if _is_bad(found, one)}
    closed = [_closed(one, bad) for one in events]
    slow = {op: one for op, one in bad.items() if one.since_ns is not None}
    since = min((one.since_ns or 0 for one in slow.values()), default=None)
    lost = {op: one for op, one in bad.items() if op not in slow}
    if since is None:
        going = any(one.end_ns is None and one.kind in _KINDS for one in closed)
        if going or not lost:
            return [_as_lost(one, lost) for one in closed]
        since = found.at_ns - int(state.get("window_ns") or 0)
    mine = [one for one in closed if one.kind in _KINDS and one.seen_until_ns > since]
    until = max([last_ns, *(one.seen_until_ns for one in mine)])
    shares = {share.op: share for one in mine for share in one.ops}
    shares |= {op: _share(shares.get(op), one, until) for op, one in slow.items()}
    shares |= {op: _lost(shares.get(op), one, since, until) for op, one in lost.items()}
    event = _event(found, mine, shares, list(bad), until)
    return [*(one for one in closed if one not in mine), event]


def _with_failures(events: Sequence[SlowEvent], found: Finding, last_ns: int) -> list[SlowEvent]:
    """Events, and one of what fails where samples have none yet that goes on."""
    begins = {one.op: one.since_ns for one in found.ops if one.since_ns is not None}
    events = [_until_it_failed(one, begins) for one in events]
    if not begins:
        return events
    if any(one.end_ns is None and one.kind in _KINDS for one in events):
        first = next(op for op in (one.op for one in found.ops) if op in begins)
        return [_led_by(one, first, begins) for one in events]
    until = max(last_ns, *begins.values())
    shares = {
        one.op: replace(_lost(None, one, begins[one.op], until), lost=1.0)
        for one in found.ops
        if one.op in begins
    }
    return [*events, _event(found, (), shares, list(shares), until)]


def _led_by(event: SlowEvent, first: str, begins: Mapping[str, int]) -> SlowEvent:
    """An event of losses that goes on, led by the op that its probe names first: all that fail are alike.

    Ops that answered in between are part of it since they fail again.
    """
    own = {one.op: one for one in event.ops if one.start_ns is not None}
    if event.end_ns is not None or event.kind != "lost" or first not in own:
        return event
    shares = [_again(one, begins.get(one.op, 0), event.seen_until_ns) for one in event.ops]
    return _led(event, sorted(shares, key=lambda one: one.op != first))


def _led(event: SlowEvent, shares: Sequence[OpShare]) -> SlowEvent:
    """An event of losses with other shares, the first of which leads it."""
    lead = shares[0]
    return replace(
        event,
        kind="lost",
        op=lead.op,
        ops=tuple(shares),
        peak=lead.peak,
        peak_ns=lead.peak_ns,
        median=lead.median,
        lost=lead.lost,
        recovery_ns=lead.recovery_ns,
    )


def _as_lost(event: SlowEvent, lost: Mapping[str, OpVerdict]) -> SlowEvent:
    """An event of operations that are slow in part, of losses where its probe sees nothing else of it now."""
    own = {one.op for one in event.ops if one.start_ns is not None}
    if event.end_ns is not None or event.kind not in ("slow", "partly_slow") or not own & set(lost):
        return event
    order = sorted(
        event.ops, key=lambda one: (one.op not in lost or one.op not in own, -(one.lost or 0.0))
    )
    return _led(event, order)


def _again(share: OpShare, since_ns: int, until_ns: int) -> OpShare:
    """The part of an op that has failed since an instant, without an earlier outage."""
    if share.start_ns is None or since_ns - share.start_ns < _AGAIN_NS:
        return share
    return replace(share, start_ns=since_ns, end_ns=until_ns, lost=1.0)


def _until_it_failed(event: SlowEvent, begins: Mapping[str, int]) -> SlowEvent:
    """An event of slow operations that goes on for its samples, over where all of these fail now."""
    goes_on = event.end_ns is None and event.kind in ("slow", "partly_slow")
    first = min(begins.values(), default=0)
    slow = [one for one in event.ops if one.start_ns is not None and one.start_ns < first]
    if event.kind == "slow":
        slow = [one for one in slow if one.affected]
    if not goes_on or not slow or any(one.op not in begins for one in slow):
        return event
    ops = tuple(replace(one, end_ns=min(one.end_ns or first, first)) for one in slow)
    begin = min(one.start_ns or first for one in ops)
    end = max(one.end_ns or first for one in ops)
    n = sum(one.n for one in ops)
    whole = replace(event, start_ns=begin, end_ns=end, seen_until_ns=end, n=n)
    return replace(whole, ops=ops, op=ops[0].op)  # the worst is first


def _is_bad(found: Finding, one: OpVerdict) -> bool:
    """Whether the storage makes an operation slow, or loses some of them."""
    return found.kind in ("slow", "lost") and (one.state == "slow" or one.lost is not None)


def _closed(event: SlowEvent, bad: Mapping[str, OpVerdict]) -> SlowEvent:
    """An event that goes on for its samples, over where its probe judges all of its ops to be as usual."""
    goes_on = event.end_ns is None and event.kind in _KINDS
    own = [share.op for share in event.ops if share.start_ns is not None]
    if not goes_on or any(op in bad for op in own):
        return event
    return replace(event, end_ns=event.seen_until_ns)


def _share(known: OpShare | None, one: OpVerdict, until_ns: int) -> OpShare:
    """The part of a slow op, with what its probe judges of the whole stretch."""
    share = known or OpShare(one.op, None, None, one.tail, one.lost, 1.0, True, one.n)
    share = replace(share, start_ns=one.since_ns, end_ns=until_ns, recovery_ns=None)
    if one.partly:
        return replace(share, hits=one.hits, hits_usual=one.hits_usual, affected=False)
    peaks = [value for value in (share.peak, one.slowdown) if value is not None]
    return replace(
        share,
        median=one.slowdown,
        lower=one.lower,
        upper=one.upper,
        peak=max(peaks, default=None),
        peak_ns=one.since_ns if share.peak_ns is None else share.peak_ns,
        affected=True,
    )


def _lost(known: OpShare | None, one: OpVerdict, since_ns: int, until_ns: int) -> OpShare:
    """The part of an op some of which are lost."""
    share = known or OpShare(one.op, None, None, one.tail, one.lost, 0.0, False, one.n)
    if share.start_ns is not None:
        return share
    return replace(share, start_ns=since_ns, end_ns=until_ns, lost=share.lost or one.lost)


def _event(
    found: Finding,
    mine: Sequence[SlowEvent],
    shares: Mapping[str, OpShare],
    order: Sequence[str],
    until_ns: int,
) -> SlowEvent:
    """All that goes on at a target as one event, the op that its probe names first."""
    ops = [shares[op] for op in order] + [one for op, one in shares.items() if op not in order]
    worst = ops[0]
    begins = [share.start_ns for share in ops if share.start_ns is not None]
    lasted = [(share.median or 1.0, until_ns - (share.start_ns or until_ns)) for share in ops]
    partly = all(one.partly for one in found.ops if one.state == "slow")
    kind = "lost" if found.kind in ("lost", "failing") else "partly_slow" if partly else "slow"
    area_s = sum(max(0.0, factor - 1) * length / 1e9 for factor, length in lasted)
    return SlowEvent(
        host=found.host,
        target=found.target,
        start_ns=min(begins),
        end_ns=None,
        seen_until_ns=until_ns,
        peak=worst.peak,
        peak_ns=worst.peak_ns,
        median=worst.median,
        area_s=sum(one.area_s for one in mine) or area_s,
        recovery_ns=None,
        n=sum(share.n for share in ops),
        ops=tuple(ops),
        lost=worst.lost,
        unobserved_ns=sum(one.unobserved_ns for one in mine),
        kind=kind,
        op=worst.op,
        cause=next((one.cause for one in mine if one.cause), None),
    )
