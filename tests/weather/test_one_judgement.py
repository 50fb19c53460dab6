"""Stores of many kinds: the doors that look back tell the same stretch, or the same reason why nothing was judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from iosonde.model.frames import TargetRef
from iosonde.model.units import iso_time
from iosonde.model.verdicts import Reason, Verdict
from iosonde.weather import answers
from iosonde.weather.events.judgement import judgement
from tests.kit.commands import run
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import LATENCY, SECOND, simulate

START = 1_788_739_200 * SECOND
"""A Monday, 00:00 UTC."""
MINUTE, HOUR, DAY = 60, 3600, 86_400
OPS = ("data_read", "md_create")
PLACE = TargetRef("login2", "/work")


class Kind(NamedTuple):
    """A store of ``length_s``; ``slow``: begin, end (s) and factor of creates; ``reason``: why nothing was judged."""

    make: Callable[[Path, int, list[Trouble]], object]
    length_s: int
    slow: tuple[int, int, float] | None = None
    reason: Reason | None = None
    off_s: int = 10


def every(period_s: int, **options: object) -> Callable[[Path, int, list[Trouble]], object]:
    """A store of operations at one period."""

    def make(root: Path, length_s: int, troubles: list[Trouble]) -> object:
        rng = np.random.default_rng(period_s)
        return made(root, rng, START, length_s, troubles, period_s=period_s, ops=OPS, **options)

    return make


def quick(root: Path, length_s: int, troubles: list[Trouble]) -> None:
    """A demonstration: ten operations a second."""
    faults = [
        {
            "op": one.op,
            "after": f"{one.begin_s}s",
            "for": f"{one.end_s - one.begin_s}s",
            "multiply": one.factor,
        }
        for one in troubles
    ]
    target = {"path": "/work", "name": "/work", "backend": "null", "latency": LATENCY}
    target |= {"fault": faults, "period": "100ms"}
    config = {"store": str(root), "host": "login2", "seed": 7, "window": "2s", "target": [target]}
    simulate(config, START, length_s * SECOND)


KINDS = {
    "10 Hz for 90 s": Kind(quick, 90, (35, 60, 15.0), off_s=1),
    "1 Hz": Kind(every(1), 4 * HOUR, (3 * HOUR, 3 * HOUR + 1200, 4.0)),
    "a second, first hour": Kind(every(1), HOUR, (1800, 2400, 8.0)),
    "every 15 s": Kind(every(15), 2 * DAY, (DAY, DAY + 2 * HOUR, 10.0), off_s=20),
    "one a minute": Kind(every(60), 3 * DAY, (2 * DAY, 2 * DAY + 12 * HOUR, 10.0), off_s=120),
    "every 5 min": Kind(every(300), 6 * DAY, (4 * DAY, 4 * DAY + 12 * HOUR, 10.0), off_s=600),
    "hourly": Kind(every(HOUR), 24 * DAY, (19 * DAY, 22 * DAY, 10.0), off_s=2 * HOUR),
    "every 8 h": Kind(every(8 * HOUR), 30 * DAY, reason=Reason.LONG_STEP),
    "75 s": Kind(every(1), 75, reason=Reason.LEARNING),
    "a gap": Kind(every(1, silent=[(HOUR, 5 * HOUR)]), 6 * HOUR, reason=Reason.NO_PROBE),
}


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    """A store and its kind."""
    kind = KINDS[request.param]
    troubles = [] if kind.slow is None else [Trouble("md_create", *kind.slow)]
    kind.make(tmp_path, kind.length_s, troubles)
    return tmp_path, kind


def document(capsys, root: Path, *words: str) -> dict:
    assert run(*words, "--format", "json", store=root) == 0
    return json.loads(capsys.readouterr().out)


def at(seconds: int) -> int:
    return START + seconds * SECOND


def test_every_door_makes_the_same_judgement(store, capsys):
    root, kind = store
    end_ns = at(kind.length_s)
    begin_s, over_s, factor = kind.slow or (0, kind.length_s, 1.0)
    span = ("--since", iso_time(START), "--until", iso_time(end_ns))
    log = answers.event_log(root, (START, end_ns))
    found = answers.events(root, log, (START, end_ns), end_ns)
    verdict, missing = judgement(found, PLACE, (at(begin_s), at(over_s)))
    events = document(capsys, root, "events", *span)
    slowdown = document(capsys, root, "slowdown", *span)
    reasons = {one.reason.value for one in missing}
    for said in (events, slowdown):
        assert {one["reason"] for one in said["not_judged"]} == reasons
        assert all(len(one["sentence"].split()) <= 25 for one in said["not_judged"])
    if kind.slow is None:
        assert not events["slow"]
        assert not slowdown["spans"]
        assert kind.reason.value in reasons
        if kind.reason is not Reason.NO_PROBE:
            assert verdict is Verdict.NOT_JUDGED
        return
    assert verdict is Verdict.SLOW
    (event,) = events["slow"]
    (share,) = [one for one in event["ops"] if one["affected"]]
    (told,) = slowdown["spans"]
    why = document(capsys, root, "why", "--no-model", "--at", iso_time(at((begin_s + over_s) // 2)))
    fact = why["links"]["slowness"]["fact"]
    assert share["op"] == told["op"] == fact["op"] == "md_create"
    assert share["start_ns"] == told["start_ns"] == event["start_ns"] == fact["begin_ns"]
    assert share["end_ns"] == told["end_ns"] == fact["end_ns"]
    numbers = (share["median"], share["lower"], share["upper"])
    assert numbers == (told["slowdown"], told["slowdown_lower"], told["slowdown_upper"])
    assert numbers == (fact["factor"]["value"], fact["factor"]["lower"], fact["factor"]["upper"])
    assert share["median"] == pytest.approx(factor, rel=0.15)
    assert share["lower"] <= factor <= share["upper"]
    assert share["peak"] >= share["median"]
    assert abs(share["start_ns"] - at(begin_s)) <= kind.off_s * SECOND
    assert abs(share["end_ns"] - at(over_s)) <= kind.off_s * SECOND


@pytest.mark.parametrize("words", [("events",), ("slowdown",), ("blame",), ("digest",)])
def test_what_was_not_judged_is_not_said_to_be_as_usual(words, tmp_path, capsys):
    every(1)(tmp_path, 75, [])
    run(*words, store=tmp_path)
    said = capsys.readouterr()
    text = f"{said.out} {said.err}".lower()
    assert "judged" in text or "nothing was watched" in text
    for wrong in ("no events.\n", "no slow stretch", "nothing was slow", "no target was slow"):
        assert wrong not in text


def test_losses_hide_no_slowdown_of_another_operation(tmp_path):
    begin, slow, over = 3 * HOUR, 3 * HOUR + 430, 3 * HOUR + 1200
    troubles = [
        Trouble("data_read", begin, over, float("inf"), share=0.2),
        Trouble("md_create", begin, slow, float("inf"), share=0.2),
        Trouble("md_create", slow, over, 400.0),
    ]
    every(1)(tmp_path, 4 * HOUR, troubles)
    log = answers.event_log(tmp_path, (START, at(4 * HOUR)))
    found = answers.events(tmp_path, log, (START, at(4 * HOUR)), at(4 * HOUR))
    (event,) = [one for one in found.slow if one.kind != "hang"]
    assert (event.kind, event.op) == ("slow", "md_create")
    assert event.ops[0].median == pytest.approx(400, rel=0.1)
    assert abs(event.ops[0].start_ns - at(slow)) <= 10 * SECOND
