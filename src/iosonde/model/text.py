"""Foreign text, made safe for a terminal."""

from __future__ import annotations

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
"""Unicode symbols of control characters: ESC is shown as ``␛``."""


def clean_text(text: str) -> str:
    """``text`` without characters that a terminal would interpret."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shown_letter(letter: str) -> str:
    """A printable letter: itself, the symbol of a control character, ``?`` for others."""
    return letter if letter.isprintable() else _PICTURES.get(ord(letter), "?")
