"""Text of others, made safe for a terminal."""

from __future__ import annotations

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
"""Unicode's signs for control characters: ESC is shown as ``␛``."""


def clean_text(text: str) -> str:
    """``text`` without characters that a terminal would obey."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shown_letter(letter: str) -> str:
    """A letter that can be printed: itself, the sign of a control character, ``?`` for what has no sign."""
    return letter if letter.isprintable() else _PICTURES.get(ord(letter), "?")
