"""docs/why.md and docs/methods/why.md against the code: verdicts, links, limits, options."""

from __future__ import annotations

from pathlib import Path

from iosonde.cli.attribution import why as command
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.why import component, host, load, remedy, servers, stretch, windows
from iosonde.why.data import NAMES
from iosonde.why.decide import RULES, SLOW_PEERS
from iosonde.why.words import MOST_WORDS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = " ".join((DOCS / "why.md").read_text().split())
METHOD = " ".join((DOCS / "methods/why.md").read_text().split())
MINUTE_NS = 60_000_000_000


def test_every_link_and_verdict_has_its_row() -> None:
    for name in NAMES:
        assert f"| {name} |" in PAGE
    places = [METHOD.index(f"| {kind} |") for kind, _ in RULES]
    assert places == sorted(places), "the rule is read from the top"
    for kind, _ in RULES:
        assert f"| {kind} |" in PAGE


def test_limits_of_the_page() -> None:
    assert f"at most {MOST_WORDS} words" in PAGE
    assert host.SHORTEST_NS == 4 * DAY_NS
    assert "four days of history" in PAGE
    assert "Below 4 days of history" in METHOD
    assert f"`r >= {component.AT:g}` and its lower end `>= {component.LOWER:g}`" in METHOD
    assert f"`r >= {component.AT:g}` with `f_p < {component.USUAL:g}`" in METHOD
    assert f"`f_p >= {SLOW_PEERS:g}`" in METHOD
    assert (
        f"median `>= {servers.AT:g}` times its peers' (lower quartile `>= {servers.LOWER:g}`)"
        in METHOD
    )
    assert load.MOST_OF_LOAD == 0.5
    assert "half of all operations" in METHOD
    assert remedy.SHORTER == 4
    assert "a queue of a quarter of `M`" in METHOD
    assert remedy.AROUND_NS == 12 * HOUR_NS
    assert "reads of 12 h" in METHOD
    assert stretch.LOOK_BACK_NS == DAY_NS
    assert "the last event of 24 h" in METHOD
    assert stretch.NEAR_NS == 15 * MINUTE_NS
    assert "within 15 min of the time" in METHOD
    assert windows.LONG_NS == 10 * MINUTE_NS
    assert "of a stretch below 10 min, of 10 s" in METHOD
    assert windows.SHORT_NS == 10_000_000_000
    assert host.STAYS_NS == DAY_NS
    assert "gone on for 24 h" in METHOD


def test_examples_of_the_page_are_understood() -> None:
    text = (DOCS / "why.md").read_text()
    lines = [
        line.split("#")[0].split()[2:]
        for line in text.splitlines()
        if line.startswith("iosonde why")
    ]
    assert len(lines) >= 5
    for words in lines:
        command._parse(words)
