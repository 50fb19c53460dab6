"""What every door of a store says, held to what its events say."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.frames import TargetRef
from iosonde.model.verdicts import Verdict
from iosonde.weather.events.answers import event_log
from iosonde.weather.events.judgement import judgement
from iosonde.weather.events.noted import slow_hangs
from iosonde.weather.events.told import told_events
from iosonde.weather.store import Store
from tests.agree.doors import MILLISECOND_NS, PAST_DOORS
from tests.kit.samples.makers import SECOND

TOLD_FROM = 2.0
"""Stretches of a smaller factor cost a job little: ``explain`` counts none of their time as slow."""


def agree(kind, doors):
    """Hold every door of a store of a kind to what its events say."""
    events = doors.events()
    spans = doors.spans()
    slow = [(place, said) for place, said in events if said.verdict == "slow"]
    for door, rows in spans.items():
        for place, said in slow:
            match = [one for where, one in rows if where == place and one.op == said.op]
            assert any(not said.contradicts(one) for one in match), (door, said, match)
        assert bool(rows) == bool(slow), door
    hung = [(place, said) for place, said in events if said.verdict == "hang"]
    told = doors.hangs()
    assert [place for place, _ in told] == [place for place, _ in hung]
    for (_, one), (_, said) in zip(told, hung, strict=True):
        assert not one.contradicts(said), (one, said)
    _truth(kind, doors, slow)
    _now(doors, events)
    _then(kind, doors, events)
    _not_judged(kind, doors, events)
    _annotations(doors)
    blamed = doors.blamed()
    last = [one for _, one in events if one.verdict != "change"][-1:]
    assert (blamed is None) == (not last)
    assert blamed is None or blamed <= last[0].begin_s
    if doors.store == str(doors.root):  # nobody ships jobs to a bucket
        _explained(kind, doors, events)


def _explained(kind, doors, events):
    """A job of all that time, and one of the first stretch, met what the events say: nothing else, and not less."""
    spans = [doors.span_ns]
    at, stretch = next((one for one in events if one[1].verdict == "slow"), (None, None))
    if stretch is not None:
        end = doors.now_ns if stretch.end_s is None else stretch.end_s * SECOND
        spans.append((stretch.begin_s * SECOND, end))
    told = doors.explained(*spans)
    assert len(told) == len(spans)
    hosts = {one.host for one in Store(doors.root).targets()}
    for said in told:
        text = said["sentence"]
        if events:
            assert "no slow stretch" not in text
            assert "storage is unknown" not in text
        else:
            assert all(not one["slow_s"] for one in said["storage"]), text
        if kind.reason in ("learning", "long_step") and not events:
            assert "judged" in text
    for said in told if kind.slow and len(hosts) == 1 else ():
        worst = said["storage"][0]
        factor = max(one.factor for _, one in events if one.verdict == "slow")
        assert worst["told_level"] <= factor, (worst, events)
        slow = next(one for one in worst["ops"] if one["op"] == kind.op)
        assert slow["typ"] == pytest.approx(factor, rel=0.1)
    if stretch is not None and len(hosts) == 1:
        begin, end = spans[1]
        if stretch.factor < TOLD_FROM:
            return
        met = next(one for one in told[1]["storage"] if one["target"] == at[1])
        assert met["slow_s"] == pytest.approx((end - begin) / SECOND, rel=0.05, abs=2.0), (
            at,
            stretch,
        )


def _annotations(doors):
    """Dashboards get the events of the command, to the millisecond and in its words, and what was not judged."""
    told = doors.json("events", *doors.span)
    ends = [("start_ns", "end_ns", one) for one in told["slow"]]
    ends += [("began_ns", "ended_ns", one) for one in told["events"]]
    rows = [
        (one["kind"], one["host"], one["target"], one["op"], *(_ms(one[end]) for end in two), one["sentence"])
        for *two, one in ends
    ]  # fmt: skip
    names = ("kind", "host", "target", "op", "time", "timeEnd", "text")
    found = [tuple(one[name] for name in names) for one in doors.annotations["annotations"]]
    assert sorted(found, key=str) == sorted(rows, key=str)
    assert bool(doors.annotations["not_judged"]) == bool(told["not_judged"])


def _ms(ns):
    return None if ns is None else ns // MILLISECOND_NS


def _truth(kind, doors, slow):
    """Where a slow stretch was made it is found."""
    if kind.slow is None:
        return
    begin_s, end_s, factor = kind.slow
    start = doors.now_ns // SECOND - kind.length_s
    found = [said for place, said in slow if place == ("login2", "/work") and said.op == kind.op]
    assert len(found) == 1, slow
    (said,) = found
    assert abs(said.begin_s - start - begin_s) <= kind.off_s
    if said.end_s is not None:
        assert abs(said.end_s - start - end_s) <= kind.off_s
    assert said.factor == pytest.approx(factor, rel=0.25)
    assert said.lower <= said.factor <= said.upper


def _now(doors, events):
    """The doors of now, with the events that go on."""
    live = doors.live()
    reference = live["now"]
    for door, targets in live.items():
        for place, said in targets.items():
            if place in reference:
                assert not said.contradicts(reference[place]), (door, said, reference[place])
    for place, said in reference.items():
        going = [one for where, one in events if where == place and one.end_s is None]
        going = [one for one in going if one.verdict in ("slow", "partly_slow", "lost")]
        if said.verdict in ("slow", "partly_slow"):
            assert any(not said.contradicts(one) for one in going), (said, events)
        elif said.verdict == "lost":
            assert [one for one in going if not said.contradicts(one)], (said, events)
        elif said.verdict in ("usual", "host_busy"):
            assert not going, (said, going)
    _check(doors)
    fleet = doors.json("now", "--hosts")
    if fleet is not None:
        for row in fleet["rows"]:
            for target, value in zip(fleet["targets"], row["slowdown"], strict=True):
                said = reference[row["host"], target]
                if said.verdict == "slow":
                    assert value == pytest.approx(said.factor)
    why = doors.past("why", None)
    by_api = doors.past("api why", None)
    assert why == by_api
    bad = [one for one in reference.values() if one.verdict in ("slow", "lost", "hang")]
    if bad and why is not None:
        assert any(not why.contradicts(one) for one in bad), (why, bad)


def _check(doors):
    """The plugin's code and words are those of the worst finding."""
    told = doors.json("now")
    if told is None:
        return
    worst = told["targets"][0]
    codes = {"ok": (0,), "info": (0, 3), "unknown": (3,), "slow": (1, 2), "hung": (2,)}
    code, out, _ = doors.run("check")
    assert code in codes[worst["severity"]], worst
    assert worst["sentence"].removeprefix("unknown: ") in out


def _then(kind, doors, events):
    """Why and its route, and the judgement in one place, at random instants in and around stretches."""
    random = np.random.default_rng(len(events) + kind.length_s)
    start = doors.now_ns // SECOND - kind.length_s
    instants = [] if len(events) > 1 else [start + int(random.integers(0, kind.length_s))]
    for _, said in events[:2]:
        end = doors.now_ns // SECOND if said.end_s is None else said.end_s
        instants.append(int(random.integers(said.begin_s, max(end, said.begin_s + 1))))
    log = event_log(doors.root, doors.span_ns)
    found = told_events(doors.root, log, doors.span_ns, doors.now_ns)
    found = found._replace(slow=[*found.slow, *slow_hangs(found.logged, doors.now_ns)])
    for number, instant in enumerate(instants):
        there = [
            (place, one)
            for place, one in events
            if one.begin_s < instant and (one.end_s is None or instant < one.end_s)
        ]
        # Each of the two is asked at instants of its own.
        door = PAST_DOORS[(number + kind.length_s) % 2]
        said = doors.past(door, instant * SECOND)
        if said is None or said.verdict == "host_busy":
            assert not [one for _, one in there if one.verdict == "slow"], (door, instant)
        else:
            assert [one for _, one in events if not said.contradicts(one)], (door, said, events)
        for place, one in there:
            span = (instant * SECOND, (instant + 1) * SECOND)
            verdict, _ = judgement(found, TargetRef(*place), span)
            assert verdict != Verdict.USUAL, one


def _not_judged(kind, doors, events):
    """What was not judged is told with one reason, and is never called usual."""
    told = doors.not_judged()
    assert told["events"] == told["slowdown"]
    reasons = {reason for _, _, reason in told["events"]}
    if kind.reason is None:
        return
    assert kind.reason in reasons
    for place, said in doors.live()["now"].items():
        if said.verdict == "not_judged":
            assert said.reason in reasons or said.reason == "no_probe", (place, said)
    if events:
        return
    for words in (("events",), ("slowdown",), ("blame",), ("report", "--mail")):
        text = doors.text(*words)
        assert "judged" in text or "nothing was watched" in text, words
        for wrong in (
            "no events. ",
            "no slow stretch. ",
            "nothing was slow on",
            "no target was slow in the last",
        ):
            assert wrong not in f"{text} ", words
