"""Segments whose rows a file holds, and the selection of files in a folder that count.

::

    a.parquet, b.parquet            segments, which hold themselves
    M.parquet   iosonde_stems: a b  merged: holds a and b
    N.parquet   iosonde_stems: M a b c    merged once more: names also the files it replaces

The rule of reading: a file whose segments are all in another file does not count. Of two files with the same segments
the one that names more replaced files counts, then the one whose name sorts last. Files that hold some segments in
common and some alone share rows: all of them count, and a row that several hold counts once (``shared``).

The rule compares segments alone, so neither the order of a folder, nor removed files between two generations, nor
names that an earlier version left out change what counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from iosonde.engine.layout.merged import is_merged

K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Hashable)


class Contents(NamedTuple):
    """A file of a folder."""

    stem: str
    segments: frozenset[str]
    """Segments whose rows are in the file."""
    names: frozenset[str]
    """``segments``, and every file that it replaces, over all generations."""


def contents_of(stem: str, named: Iterable[str]) -> Contents:
    """Contents of a file; ``named``: the stems in its footer. A file that names no segment is its own segment."""
    names = frozenset(named) if is_merged(stem) else frozenset[str]()
    segments = frozenset(name for name in names if not is_merged(name))
    if not segments:
        return Contents(stem, frozenset((stem,)), frozenset((stem,)))
    return Contents(stem, segments, names)


def rank(one: Contents) -> tuple[int, int, str]:
    """Sort key by which no file holds the segments of a later one, unless both hold the same."""
    return len(one.segments), len(one.names), one.stem


def holders(files: Iterable[Contents]) -> dict[str, Contents]:
    """Superseded files of a folder, by stem, each with a counting file that holds its segments."""
    found: dict[str, Contents] = {}
    merged_with: dict[str, list[Contents]] = defaultdict(list)
    for one in sorted(files, key=rank, reverse=True):
        some = next(iter(one.segments))
        holder = next((m for m in merged_with[some] if one.segments <= m.segments), None)
        if holder is not None:
            found[one.stem] = holder
        elif is_merged(one.stem):
            for segment in one.segments:
                merged_with[segment].append(one)
    return found


def groups(held: Mapping[K, frozenset[S]]) -> list[list[K]]:
    """Group files that share a segment, transitively; most are alone. In the order given."""
    group_of: dict[S, list[K]] = {}
    found: dict[int, list[K]] = {}
    for key, segments in held.items():
        touched = {id(group_of[one]): group_of[one] for one in segments if one in group_of}
        group = [member for each in touched.values() for member in each] + [key]
        for number in touched:
            del found[number]
        found[id(group)] = group
        for member in group:
            for segment in held[member]:
                group_of[segment] = group
    place = {key: number for number, key in enumerate(held)}
    return sorted(
        (sorted(group, key=place.__getitem__) for group in found.values()),
        key=lambda g: place[g[0]],
    )


def shared(held: Mapping[K, frozenset[S]]) -> list[K]:
    """Files that share a segment with another."""
    if sum(map(len, held.values())) == len(frozenset[S]().union(*held.values())):
        return []
    return [key for group in groups(held) if len(group) > 1 for key in group]


def replaced_by(parts: Sequence[Contents], others: Iterable[Contents]) -> list[str]:
    """Sorted names in the footer of a merge of ``parts``: all of theirs, and those of ``others`` inside it."""
    segments = frozenset[str]().union(*(one.segments for one in parts))
    inside = [one for one in others if one.segments <= segments]
    return sorted({name for one in (*parts, *inside) for name in (one.stem, *one.names)})
