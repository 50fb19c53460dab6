"""Stores of many kinds: every door makes the same judgement, of the same time, with the same numbers."""

from __future__ import annotations

import time

import pytest

from iosonde.weather.events.answers import event_log
from iosonde.weather.events.told import told_events
from iosonde.why.answers import why
from iosonde.why.question import WhyQuestion
from tests.agree.compared import agree
from tests.agree.doors import doors_of
from tests.agree.kinds import KINDS, NOW
from tests.agree.said import Said, second
from tests.kit.samples.makers import SECOND


@pytest.fixture(params=KINDS)
def asked(request, store_of, monkeypatch, capsys):
    """A store of a kind at ``NOW``: its kind and its doors."""
    kind = KINDS[request.param]
    root = store_of(request.param)
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    with doors_of(root, NOW, kind.length_s * SECOND, capsys) as doors:
        yield kind, doors


def test_every_door_makes_the_same_judgement(asked):
    agree(*asked)


@pytest.mark.parametrize("words", [("events",), ("slowdown",), ("blame",), ("report", "--mail")])
def test_what_was_not_judged_is_not_said_to_be_as_usual(words, store_of, capsys, monkeypatch):
    kind = KINDS["75 s"]
    root = store_of("75 s")
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    with doors_of(root, NOW, kind.length_s * SECOND, capsys) as doors:
        text = doors.text(*words)
    assert "judged" in text or "nothing was watched" in text
    for wrong in ("no events. ", "no slow stretch", "nothing was slow", "no target was slow"):
        assert wrong not in f"{text} "


def test_losses_hide_no_slowdown_of_another_operation(store_of):
    kind = KINDS["losses beside a slow op"]
    root = store_of("losses beside a slow op")
    span = (NOW - kind.length_s * SECOND, NOW)
    found = told_events(root, event_log(root, span), span, NOW)
    (event,) = [one for one in found.slow if one.kind != "hang"]
    assert (event.kind, event.op) == ("slow", kind.op)
    assert event.ops[0].median == pytest.approx(kind.slow[2], rel=0.1)
    assert abs(event.ops[0].start_ns - span[0] - kind.slow[0] * SECOND) <= 10 * SECOND


@pytest.mark.parametrize("name", ["a processor that wakes", "a processor that wakes, goes on"])
def test_a_processor_that_wakes_is_no_slow_storage(name, store_of):
    root, length_ns = store_of(name), KINDS[name].length_s * SECOND
    span = (NOW - length_ns, NOW)
    assert not told_events(root, event_log(root, span), span, NOW).slow
    told = why(root, WhyQuestion(model=False), NOW).sentence
    assert told.endswith(": no more than a processor of login2 takes to wake")


def test_said_tells_what_differs():
    one = Said("slow", 10, None, "md_create", 4.0, 3.5, 4.5)
    assert one.contradicts(one._replace(begin_s=11, factor=4.1)) == ["begin_s", "factor"]
    assert not one.contradicts(Said("slow", end_s=None))
    assert one.contradicts(Said("not_judged", reason="learning")) == ["verdict", "reason"]
    assert second(1_999_999_999) == 1
