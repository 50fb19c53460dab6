"""Sentence of bounded length: parts are shortened or dropped, the least important first."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 200
"""Most characters of a sentence about a job."""
MOST_WORDS = 25
"""Most words before parts are shortened; only light and accompanying parts are dropped for that."""
LIGHT, HEAVY = 2, 5
"""Largest weight of parts that may be dropped for the number of words; least weight of parts that stay whole."""


class Clause(NamedTuple):
    """A part of a sentence: the longest form first, "" if it may be dropped."""

    forms: tuple[str, ...]
    weight: int
    """Parts of the least weight are shortened first."""
    company: bool = False
    """True for an accompanying part, also shortened for the number of words."""


def shortened(parts: list[Clause]) -> str:
    """The parts in their order, each in the longest form that leaves room for those of more weight."""
    forms = [0] * len(parts)

    def text() -> str:
        return "".join(part.forms[form] for part, form in zip(parts, forms, strict=True))

    while True:
        said = text()
        long = len(said) > LONGEST
        wordy = len(said.split()) > MOST_WORDS
        could = [
            i
            for i, part in enumerate(parts)
            if forms[i] < len(part.forms) - 1
            and (long or (wordy and _may_shrink(part, part.forms[forms[i] + 1])))
        ]
        if not could:
            return said
        forms[min(could, key=lambda i: (parts[i].weight, -i))] += 1


def _may_shrink(part: Clause, form: str) -> bool:
    """True if a part may be shortened for the number of words alone."""
    return part.company or part.weight <= LIGHT or (form != "" and part.weight < HEAVY)
