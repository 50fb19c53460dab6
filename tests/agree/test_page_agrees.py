"""The page in a real browser says of each target what the commands say: word, factor, interval, events, reasons."""

from __future__ import annotations

import time

import pytest

from iosonde.model.units import format_factor
from iosonde.weather.store import Store
from tests.agree.doors import doors_of
from tests.agree.kinds import KINDS, NOW
from tests.agree.page import shown
from tests.kit.page.browser import browser
from tests.kit.samples import stores
from tests.kit.samples.makers import SECOND

pytestmark = pytest.mark.service

SHOWN = (
    "three minutes",
    "first hour slow, goes on",
    "slow for 25 min, goes on",
    "two ops one after the other, go on",
    "hung, goes on",
    "failing",
    "two hosts, one slow",
    "stopped while slow",
    "unreadable state",
    "a gap",
    "partly slow",
    "lost",
)
"""A kind of each judgement, of each reason, and of each way to have targets: each takes a browser's seconds."""
WORDS = {"usual": "as usual", "slow": "slow", "hung": "hanging", "stale": "silent"}


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_says_what_the_commands_say(name, chromium, store_of, monkeypatch, capsys):
    length_ns = KINDS[name].length_s * SECOND
    root = store_of(name)
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    with doors_of(root, NOW, length_ns, capsys) as doors:
        told = doors.json("now")
        places = sorted({(one.host, one.target) for one in Store(root).targets()})
        with stores.running(root, clock=lambda: NOW) as (address, _):
            pages = {
                place: shown(chromium, address, place, (NOW - length_ns, NOW)) for place in places
            }
        annotations = doors.annotations
    now = {(one["host"], one["target"]): one for one in ([] if told is None else told["targets"])}
    for place, page in pages.items():
        _cards(page, now, place)
        _events(page, annotations, place, len(places))
        row = now.get(place)
        if row is not None and row["severity"] != "unknown":
            _panels(page, row)
        else:
            assert not [one for one in page.panels.values() if any(map(str.isdigit, one["chip"]))]


def _cards(page, now, place):
    """Every card and cell has the severity and the sentence of ``now``; without a live state nobody knows."""
    rows = {(one["target"], one["sentence"]): one for one in now.values()}
    for card in page.cards:
        row = rows.get((card["target"], card["sentence"]))
        if row is None:
            assert (card["severity"], card["kind"]) == ("unknown", "stale"), card
            assert not [key for key in now if key[1] == card["target"]], card
        else:
            assert (card["severity"], card["kind"]) == (row["severity"], row["kind"])
        assert card["word"] == WORDS.get(card["kind"], card["word"])
        assert (card["word"] == "as usual") == (card["kind"] == "usual")
        assert card["why"] == (card["severity"] in ("slow", "hung"))
        _chips(card, row)
    assert [one["target"] for one in page.cards if one["pressed"]] == [place[1]]
    for cell in page.cells:
        row = now[cell["host"], cell["target"]]
        assert cell["severity"] == row["severity"]
        assert cell["label"].endswith(row["sentence"])


def _chips(card, row):
    """An op's chip has the factor that the sentence has."""
    if card["severity"] == "unknown":
        assert set(card["chips"].values()) <= {"n/a"}, card
        return
    for one in row["ops"] if row["kind"] == "slow" else ():
        if not one["partly"]:
            assert card["chips"][one["op"]] == f"{format_factor(one['slowdown'])}x"


def _panels(page, row):
    """A panel calls slow what ``now`` calls slow, by the same factor and interval, and nothing else."""
    slow = {one["op"]: one for one in row["ops"] if row["kind"] == "slow"}
    for op, panel in page.panels.items():
        one = slow.get(op)
        if one is None:
            assert not panel["chip"].startswith(("slow", "partly")), (op, panel, row)
        elif one["partly"]:
            assert panel["chip"].startswith("partly slow")
        else:
            point, low, high = (format_factor(one[k]) for k in ("slowdown", "lower", "upper"))
            assert panel["chip"] == f"slow {point}x ({low}-{high})"
    bad = {op for op, panel in page.panels.items() if panel["bad"]}
    assert bad == ({one["op"] for one in row["ops"]} if row["severity"] == "hung" else set())


def _events(page, annotations, place, n_places):
    """The list has the events of the target and what of the span was not judged; nothing is "None" without that."""
    mine = [one for one in annotations["annotations"] if (one["host"], one["target"]) == place]
    assert sorted(one["text"] for one in page.events) == sorted(one["text"] for one in mine)
    if n_places == 1:
        assert page.missing == annotations["not_judged"]
    if not mine:
        assert page.status == (
            "None in what was judged." if page.missing else "None: nothing was slow, hung or lost."
        )
