"""docs/blame.md against the code: words, limits, options."""

from __future__ import annotations

from pathlib import Path

from iosonde.cli.attribution import blame as command
from iosonde.jobs.attribution.blame import COVERED
from iosonde.jobs.attribution.culprits import LIMITS, Confidence
from iosonde.jobs.blame.answers import SLOW

PAGE = " ".join((Path(__file__).parents[2] / "docs/blame.md").read_text().split())


def test_words_and_limits() -> None:
    share, stability, _, chance = LIMITS[Confidence.MOST]
    assert share == 0.5
    assert "at least half of the slowdown" in PAGE
    assert f"in {stability * 10:g} of 10 bootstraps" in PAGE
    assert chance == 0.01
    assert "one in a hundred other times" in PAGE
    share, _, _, chance = LIMITS[Confidence.PROBABLE]
    assert (
        f"| {Confidence.PROBABLE} | at least {share:g} of it; {chance * 100:g} in a hundred |"
        in PAGE
    )
    assert f"less than {COVERED * 100:g}% of the nodes' time" in PAGE
    assert f"(below {SLOW:g}x in its middle)" in PAGE


def test_examples_of_the_page_are_understood() -> None:
    page = (Path(__file__).parents[2] / "docs/blame.md").read_text()
    lines = [
        line.split("#")[0].split()[2:]
        for line in page.splitlines()
        if line.startswith("iosonde blame")
    ]
    assert len(lines) >= 4
    for words in lines:
        command._parse(words)
