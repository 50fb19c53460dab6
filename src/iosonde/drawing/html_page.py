"""An HTML page that needs nothing else: no network, no script, light and dark, screen and paper.

Text goes through ``drawing.html_text.escape``; figures are SVG whose text is drawn as shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.drawing.html_text import escape
from iosonde.drawing.sheet import Sheet
from iosonde.drawing.svg import inline, style_sheet

_WIDE_IN, _NARROW_IN = 11.4, 4.2


@dataclass(frozen=True)
class Picture:
    """A figure in two widths, as ``drawing.svg.inline`` gives it."""

    title: str
    wide: str
    narrow: str
    caption: tuple[str, ...]


def picture_of(sheet: Sheet, title: str, name: str) -> Picture:
    """A sheet in two widths. ``name``: prefix of its ids on the page. Raises MissingPartError."""
    from iosonde.drawing.render_sheet import draw_sheet

    wide, narrow = (
        inline(draw_sheet(sheet, width_in=width, titled=False), f"{name}{width:.0f}", sheet.title)
        for width in (_WIDE_IN, _NARROW_IN)
    )
    return Picture(title, wide, narrow, sheet.caption)


def picture_html(picture: Picture) -> str:
    """The figure; the width of the page selects the visible one."""
    caption = escape("; ".join(picture.caption))
    return (
        f'<figure class="picture"><h3>{escape(picture.title)}</h3>'
        f'<div class="wide">{picture.wide}</div><div class="narrow">{picture.narrow}</div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def list_html(sentences: Sequence[str]) -> str:
    """Sentences as a list; nothing for none."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in sentences)
    return f"<ul>{lines}</ul>" if lines else ""


def html_page(words: tuple[str, str], body: str, made: str, style: str) -> str:
    """The page. ``words``: title and subtitle; with ``made`` (when and by what) plain text. ``body``: HTML."""
    title, subtitle = words
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="iosonde">
<title>{escape(title)}</title>
<style>{style_sheet()}{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p class="sub">{escape(subtitle)}</p></header>
<main>
{body}
</main>
<footer>{escape(made)}</footer>
</body>
</html>
"""
