"""Who made an event, for people: the verdict, a table, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.jobs.blame import presence
from iosonde.jobs.blame.words import TEXTS, head, rows, sentences, worth_showing
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.presence import PresenceAnswer


def blame_blocks(answer: BlameAnswer, top: int, now_ns: int) -> list[Block]:
    """Of recorded operations: the verdict, those who did most, then all else."""
    body = [tuple(map(clean_text, row)) for row in rows(answer, top, now_ns)]
    names, body = worth_showing(head(answer), body)
    left = sum(name in TEXTS for name in names)
    return _blocks(sentences(answer, now_ns), TableBlock(names, body, left))


def presence_blocks(found: PresenceAnswer) -> list[Block]:
    """Of jobs that were there at the time."""
    body = [(clean_text(who), f"{match:.2f}") for who, match in found.ranked[: presence.SHOWN]]
    return _blocks(presence.sentences(found), TableBlock((found.by, "match"), body))


def _blocks(said: list[str], table: TableBlock) -> list[Block]:
    first, *others = (clean_text(text) for text in said)
    return [Prose(first), "", table, "", *(Prose(text, "- ") for text in others)]
