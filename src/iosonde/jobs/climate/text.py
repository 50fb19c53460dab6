"""Climates and clusters for people: sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.jobs.climate import words
from iosonde.jobs.climate import worth_words as worth
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.model.text import clean_text
from iosonde.model.units import day, format_count

if TYPE_CHECKING:
    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.motifs import Motifs
    from iosonde.jobs.climate.validation import Validated

_HEAD = ("date", "between", "file system", "motif", "before", "after", "ratio", "n", "q")


def climate_blocks(found: Climate, on: OnDate | None, valid: Sequence[Validated]) -> list[Block]:
    """Changes, what happened together and climates, or what is known of a day; then validations."""
    blocks: list[Block] = []
    if on is not None:
        blocks += [_told(text) for text in words.say_on_date(on)]
        blocks += [_told(text, "  - ") for event in on.events for text in words.say_along(event)]
    else:
        blocks += _whole(found)
    for one in valid:
        blocks += ["", *(_told(text) for text in worth.say_validation(one))]
    return blocks


def _told(text: str, first: str = "") -> Prose:
    """A sentence; from its second line on indented below its first word, or more."""
    return Prose(clean_text(text), first, " " * (len(first) + 2 * (not first.strip())))


def _whole(found: Climate) -> list[Block]:
    blocks: list[Block] = [_told(words.say_climate(found))]
    changes = [
        (
            day(c.at_ns),
            words.interval(c.earliest_ns, c.latest_ns),
            *(clean_text(name) for name in (c.file_system, c.motif)),
            f"{c.before:.2f}",
            f"{c.after:.2f}",
            f"{c.ratio:.2f}x",
            f"{c.n_before} + {c.n_after}",
            words.small(c.q) + " ~" * c.gradual + " *" * bool(c.own),
        )
        for c in found.changes
    ]
    if changes:
        blocks += ["", TableBlock(_HEAD, changes, left=4), "", "Together:"]
        for event in found.events:
            blocks.append(_told(words.say_event(event), "- "))
            blocks += [_told(text, "    ") for text in words.say_along(event)]
    if any(c.gradual for c in found.changes):
        told = "~ perhaps gradually, without a date: a straight line does as well as the step"
        blocks += ["", told]
    if any(c.own for c in found.changes):
        blocks += ["", "* the jobs themselves did something else afterwards"]
    blocks += ["", "Climates:"]
    for one in (one for one in found.regimes if one.regimes):
        blocks.append(_told(words.say_climates(one), "- "))
        several = one.regimes if len(one.regimes) > 1 else ()
        blocks += [_told(words.say_regime(regime, ""), "    ") for regime in several]
    return blocks + [_told(text, "- ") for text in words.say_without_climates(found.regimes)]


def motif_blocks(found: Motifs) -> list[Block]:
    """A sentence, and a row a cluster."""
    rows = [
        (str(number), clean_text(worth.say_cluster(one)), format_count(one.n))
        for number, one in enumerate(found.clusters, 1)
    ]
    return [
        _told(worth.say_motifs(found)),
        "",
        TableBlock(("cluster", "taken for", "jobs"), rows, 2),
    ]
