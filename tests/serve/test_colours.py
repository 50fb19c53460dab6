"""The page's colours, as people see them who lack a kind of cone: no two categories look alike."""

import pytest

from tests.kit.page.colour_blind import VISIONS, nearest, seen, tokens

ALONE = {
    "slowdown": [f"--ramp-{step}" for step in ("1", "1-5", "2", "4", "8", "16")],
    "load": ["--load-fill", "--load-half-fill"],
    "queue": ["--trace-reads", "--trace-writes"],
}
"""Told apart by their colour alone."""
WITH_A_SIGN = {
    "severity": ["--ok", "--info", "--slow", "--hung", "--unknown"],
    "marks": ["--median", "--usual", "--failed", "--skipped"],
    "classes of a job": [f"--class-{name}" for name in ("bad", "poor", "ok", "good", "none")],
}
"""Each has a shape, an icon or a word, too."""
FAR, APART = 0.05, 0.025


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_categories_look_alike(theme: str, vision: str) -> None:
    colours = tokens()
    place = ("light", "dark").index(theme)
    for groups, least in ((ALONE, FAR), (WITH_A_SIGN, APART)):
        for what, names in groups.items():
            distance, one, other = nearest({name: colours[name][place] for name in names}, vision)
            assert distance >= least, f"{what}: {one} and {other} to {vision}, {theme}"


def test_the_simulation_confuses_what_people_confuse() -> None:
    green, red = "#5a8a00", "#b36b00"
    far = nearest({"green": green, "red": red}, "all cones")[0]
    assert nearest({"green": green, "red": red}, "deuteranopia")[0] < far / 3
    # Yellow and light grey of a scale that looks well to most people.
    pale = {"yellow": "#fff3a0", "grey": "#eeeeee"}
    assert nearest(pale, "tritanopia")[0] < nearest(pale, "all cones")[0] / 2


def test_grey_stays_grey() -> None:
    for vision in VISIONS:
        assert abs(seen("#808080", vision)[1:]).max() < 0.01
