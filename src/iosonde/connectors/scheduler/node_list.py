"""Scheduler node lists: ``u[001-003,010],n[1,3-4]-ib[0-1]`` -> names, of bounded number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod

MOST_NODES = 200_000
_NONE = {"", "none", "none assigned", "(null)", "null", "unknown", "n/a"}
_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)


class NodeListError(ValueError):
    """Malformed node list."""


def expand(text: str, most: int = MOST_NODES) -> tuple[str, ...]:
    """Names in the order written, each once; none for ``None assigned`` and similar.

    Zeros on the left of a range's first number are kept. Raises NodeListError: brackets that do not match, ranges that
    are none, more than ``most`` names (found out before any of them is made).
    """
    text = text.strip()
    if text.lower() in _NONE:
        return ()
    names: dict[str, None] = {}
    for item in _items(text):
        parts = _parts(item)
        if len(names) + prod(size for size, _ in parts) > most:
            raise NodeListError(f"the list has more than {most} nodes")
        for words in product(*(list(_words(part)) for _, part in parts)):
            names["".join(words)] = None
    return tuple(names)


def _items(text: str) -> Iterator[str]:
    """Yield items between commas outside brackets."""
    depth = begin = 0
    for place, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1
        if depth not in (0, 1):
            raise NodeListError("the brackets do not match")
    if depth:
        raise NodeListError("a bracket is not closed")
    yield text[begin:].strip()


def _parts(item: str) -> list[tuple[int, str | list[tuple[int, int, int]]]]:
    """Literals and ranges (first, last, digits) of one item, each with the number of names it expands to."""
    parts: list[tuple[int, str | list[tuple[int, int, int]]]] = []
    place = 0
    while place < len(item):
        match = _PIECE.match(item, place)
        if match is None:
            raise NodeListError(f"{item[place : place + 20]!r} is no node")
        place = match.end()
        if match[2] is not None:
            parts.append((1, match[2]))
            continue
        ranges = [_range(word.strip()) for word in match[1].split(",")]
        parts.append((sum(last - first + 1 for first, last, _ in ranges), ranges))
    if not parts:
        raise NodeListError("a node without a name")
    return parts


def _range(word: str) -> tuple[int, int, int]:
    match = _RANGE.fullmatch(word)
    first = int(match[1]) if match else 1
    last = int(match[2] or match[1]) if match else 0
    if match is None or last < first:
        raise NodeListError(f"{word[:30]!r} is no range of nodes")
    return first, last, len(match[1])


def _words(part: str | list[tuple[int, int, int]]) -> Iterator[str]:
    if isinstance(part, str):
        yield part
        return
    for first, last, digits in part:
        for number in range(first, last + 1):
            yield str(number).zfill(digits)
