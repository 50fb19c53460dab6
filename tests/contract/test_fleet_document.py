"""docs/fleet.md and docs/methods/fleet.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

from iosonde.host.clocks import WRONG_NS
from iosonde.weather.fleet import shapes
from iosonde.weather.upkeep import compact

DOCS = Path(__file__).parents[2] / "docs"


def flat(name: str) -> str:
    return re.sub(r"\s+", " ", (DOCS / name).read_text())


def test_the_method_has_the_codes_constants():
    text = flat("methods/fleet.md")
    assert f"All but `nothing` pay {shapes.DOUBT_LOG:g} more" in text
    assert f"a single cell another {shapes._ALONE_LOG:g}" in text
    assert (
        f"at least {shapes.LEAST_FACTOR:g} and its probability among all shapes at least {shapes.SURE:g}"
        in text
    )
    assert f"fewer than {shapes.ENOUGH_HOSTS} hosts" in text
    assert f"({shapes._SCALES[0]:g} to {shapes._SCALES[-1]:g}, ln normal around 0.12" in text
    for degrees, weight in shapes._TAILS:
        assert f"{degrees:g}" in text
        assert f"{weight:g}" in text


def test_every_shape_is_in_the_table():
    text = flat("methods/fleet.md")
    table = re.findall(r"\| ([a-z, ]+) \| (?:one|all|several|-)", text)
    told = {word for cell in table for word in cell.split(", ")}
    assert told | {"undecided", "few hosts"} == {str(shape) for shape in shapes.FleetShape}


def test_the_page_has_the_codes_constants():
    text = flat("fleet.md")
    assert compact.GRACE_NS == 600e9
    assert "Ten minutes later" in text
    assert f"of today from {compact.MANY} files on" in text
    assert f"off by more than {WRONG_NS // 10**9} s" in text
