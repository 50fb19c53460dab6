"""Sentence of bounded length: parts are shortened or dropped, the least important first."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 200
"""Most characters of a sentence about a job."""
MOST_WORDS = 25
"""Most words."""


class Clause(NamedTuple):
    """A part of a sentence: the longest form first, "" if it may be dropped."""

    forms: tuple[str, ...]
    weight: int
    """Parts of the least weight are shortened first."""


def shortened(parts: list[Clause]) -> str:
    """The parts in their order, each in the longest form that leaves room for those of more weight."""
    forms = [0] * len(parts)
    while True:
        said = "".join(part.forms[form] for part, form in zip(parts, forms, strict=True))
        could = [i for i, part in enumerate(parts) if forms[i] < len(part.forms) - 1]
        if not could or (len(said) <= LONGEST and len(said.split()) <= MOST_WORDS):
            return said
        forms[min(could, key=lambda i: (parts[i].weight, -i))] += 1
