"""docs/methods/attribution.md against the constants of the code."""

from __future__ import annotations

from pathlib import Path

from iosonde.jobs.attribution import background, blame, clock, course, culprits, join, pursuit, rise
from iosonde.jobs.attribution.culprits import LIMITS, Confidence

PAGE = " ".join((Path(__file__).parents[3] / "docs/methods/attribution.md").read_text().split())


def test_constants_in_prose_are_those_in_code() -> None:
    assert f"Offsets within {clock.MOST_S:g} s" in PAGE
    assert f"than {clock.FEWEST} nodes" in PAGE
    assert background.IDLE_S == 3600
    assert f"pieces of {background.LONG_S / 60:g} min and more" in PAGE
    assert f"Bounds: {join.MISFIT:g} times what the piece differs" in PAGE
    assert f"at least {join.USUAL_MISFIT:g} times the node's misfit" in PAGE
    assert f"(n/{pursuit.DEPENDENCE}) ln RSS + {pursuit.PRICE:g} m" in PAGE
    assert f"(at most {pursuit.MOST_CHOSEN})" in PAGE
    assert f"{pursuit.LAGS[0]} to {pursuit.LAGS[-1]} slots later" in PAGE
    assert f"{culprits.REPEATS} times, blocks of an hour" in PAGE
    assert f"in {blame.SLOTS_OF_EVENT} slots of it" in PAGE
    assert f"(correlation {course.ALIKE:g}, or {course.RIVAL:g} of its fit" in PAGE
    assert f"in {blame.AROUND_NS / 3.6e12:g} h before and after" in PAGE
    assert f"less than {blame.COVERED * 100:g}% of the nodes'" in PAGE
    assert f"less than {blame.STANDS_OUT:g} times" in PAGE
    assert f"exceeds the {rise.HIGH:g} quantile" in PAGE
    assert f"at least {rise.FEWEST_BUSY} other slots have {rise.AS_BUSY:g} `L`" in PAGE
    assert rise.HARMLESS == rise.COMPARABLE == 1 / 3
    assert f"the job with `e >= {rise.STANDS_OUT:g}`" in PAGE
    assert f"up to {rise.FEW} jobs with `e >= {rise.PART_OF_FEW:g}`" in PAGE
    inside = f"(correlation {course.WITHIN:g} over {course.BLOCK} slots and more"
    assert f"{inside}, without the first and last {course.EDGE})" in PAGE
    assert f"of at least {culprits.RIVALS:g} of its operations in the event)" in PAGE
    assert f"that made {culprits.GROUP:g} of all operations" in PAGE


def test_words_and_their_limits_are_those_in_code() -> None:
    for word, limits in LIMITS.items():
        assert f"| {word} | " + " | ".join(f"{one:g}" for one in limits) + " |" in PAGE
    assert f"| {Confidence.ACTIVE} | any" in PAGE
