"""A sentence of at most so many characters: parts that give way, the least important first."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 200
"""Characters of a sentence about a job."""
MOST_WORDS = 25
"""Words beyond which parts take shorter forms too; only what is light or accompanies others is left out for that."""
LIGHT, HEAVY = 2, 5
"""Of the first weight and below, a part may be left out for the number of words; of the second on, it stays whole."""


class Clause(NamedTuple):
    """A piece of a sentence: the longest form first, "" where it may be left out."""

    forms: tuple[str, ...]
    weight: int
    """The part of the least weight gives way first."""
    company: bool = False
    """It only accompanies others: it gives way for the number of words, too."""


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
    """Whether a part may take its next form for the number of words alone."""
    return part.company or part.weight <= LIGHT or (form != "" and part.weight < HEAVY)
