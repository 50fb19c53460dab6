"""Selection of roll-ups, and of samples to roll up, so that no row counts twice.

::

    roll-ups whose segments overlap, with all their samples there    do not count: made again from the samples
    samples of which a segment is in no roll-up that counts          rolled up; files that share rows, together
    roll-ups that overlap, and some of their samples are gone        of each interval the one that knows most rows
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from iosonde.engine.layout.contents import groups

F = TypeVar("F", bound=Hashable)
S = TypeVar("S", bound=Hashable)


class RollupChoice(NamedTuple, Generic[F]):
    """Sources of a query on roll-ups."""

    kept: list[F]
    """Roll-ups to add up."""
    new: list[list[F]]
    """Groups of samples to roll up and add up."""
    rivals: list[tuple[list[F], list[list[F]]]]
    """Overlapping roll-ups and groups of samples: each interval counts from one of them."""


def choose(sealed: Mapping[F, frozenset[S]], kept: Mapping[F, frozenset[S]]) -> RollupChoice[F]:
    """Choose among files that count; each with its segments."""
    sampled = _union(sealed, sealed)
    left = [
        one
        for group in groups(kept)
        if len(group) == 1 or not _union(kept, group) <= sampled
        for one in group
    ]
    together = groups(sealed)
    while True:
        known = _union(kept, left)
        new = [group for group in together if not _union(sealed, group) <= known]
        anew = frozenset[S]().union(*(_union(sealed, group) for group in new))
        stay = [one for one in left if not (kept[one] & anew and kept[one] <= sampled)]
        if len(stay) == len(left):
            break
        left = stay
    return _parted(
        [(one, kept[one]) for one in left], [(group, _union(sealed, group)) for group in new]
    )


def _parted(
    kept: list[tuple[F, frozenset[S]]], new: list[tuple[list[F], frozenset[S]]]
) -> RollupChoice[F]:
    """Separate overlapping files from the others."""
    numbered = dict(enumerate(held for _, held in (*kept, *new)))
    choice: RollupChoice[F] = RollupChoice([], [], [])
    for group in groups(numbered):
        files = [kept[number][0] for number in group if number < len(kept)]
        made = [new[number - len(kept)][0] for number in group if number >= len(kept)]
        if len(group) > 1:
            choice.rivals.append((files, made))
        else:
            choice.kept.extend(files)
            choice.new.extend(made)
    return choice


def _union(held: Mapping[F, frozenset[S]], files: Iterable[F]) -> frozenset[S]:
    return frozenset[S]().union(*(held[one] for one in files))
