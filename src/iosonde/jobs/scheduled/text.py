"""A plain block of text for the mail of a job's epilogue: 72 columns, printable signs, no colour."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.scheduled.words import StoryWords

WIDTH = 72
_LABEL = 10


def story_text(words: StoryWords) -> str:
    """The sentence, then each topic with its label; ends in a newline."""
    topics = (
        ("Job", words.job),
        ("Storage", words.storage),
        ("Events", words.events),
        ("Run time", words.run_time),
        ("Own I/O", words.own_io),
    )
    return text_block(words.sentence, topics)


def text_block(sentence: str, topics: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A sentence and lines by topic."""
    lines = [*_wrapped(sentence, "", ""), ""]
    for label, texts in topics:
        for place, text in enumerate(texts):
            first = f"{label if place == 0 else '':<{_LABEL}}"
            lines += _wrapped(text, first, " " * _LABEL)
    return "\n".join(lines).rstrip() + "\n"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        clean_text(text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
