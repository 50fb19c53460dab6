"""Text of others, made safe for a terminal."""

from __future__ import annotations


def clean_text(text: str) -> str:
    """``text`` without characters that a terminal would obey."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
