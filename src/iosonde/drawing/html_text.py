"""Foreign text as HTML."""

from __future__ import annotations

import html

from iosonde.model.text import shown_letter


def escape(text: str, quote: bool = True) -> str:
    """``html.escape`` of a text whose control and direction characters are made visible; line breaks stay."""
    if not text.isprintable():
        text = "".join(c if c == "\n" else shown_letter(c) for c in text)
    return html.escape(text, quote)
