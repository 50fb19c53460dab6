"""A matplotlib figure as SVG for the middle of an HTML page: light and dark by the page's colours."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING

from iosonde.drawing.canvas import encoded
from iosonde.drawing.html_text import escape
from iosonde.drawing.style import DARK, LIGHT, Style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREFIX = "--io-"


def variables(style: Style) -> dict[str, str]:
    """Every colour of a style by the name of its CSS variable."""
    found = {}
    for field in fields(style):
        value = getattr(style, field.name)
        many = value if isinstance(value, tuple) else (value,)
        for number, colour in enumerate(many):
            name = field.name if isinstance(value, str) else f"{field.name}-{number}"
            found[f"{_PREFIX}{name}"] = colour
    return found


def style_sheet() -> str:
    """CSS that gives the variables their colours: dark on a dark screen, light on paper."""

    def block(style: Style) -> str:
        return ":root{" + "".join(f"{k}:{v};" for k, v in variables(style).items()) + "}"

    dark = f"@media screen and (prefers-color-scheme:dark){{{block(DARK)}}}"
    return f":root{{color-scheme:light dark}}{block(LIGHT)}{dark}"


def inline(canvas: Figure, name: str, label: str) -> str:
    """The figure, drawn in the light style, as an ``<svg>`` element.

    ``name`` (letters and digits) is unique on the page: ids begin with it. ``label`` is what a
    screen reader says. Colours become variables of ``style_sheet``; pictures inside (counts) are of
    one colour and an opacity that suits both.
    """
    text = encoded(canvas, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = _own_ids(text, name)
    colours = {colour: variable for variable, colour in variables(LIGHT).items()}
    text = re.sub(r"#[0-9a-f]{6}\b", lambda m: _variable(m[0], colours), text)
    head = f'<svg role="img" aria-label="{escape(label)}" '
    text = re.sub(r'<svg ([^>]*?)width="[^"]*"([^>]*)>', r"<svg \1\2>", text, count=1)
    text = re.sub(r'(<svg [^>]*?)height="[^"]*"([^>]*>)', r"\1\2", text, count=1)
    return head + text.removeprefix("<svg ")


def _variable(colour: str, colours: dict[str, str]) -> str:
    return f"var({colours[colour]})" if colour in colours else colour


def _own_ids(text: str, name: str) -> str:
    """Ids by order of appearance, so that figures on a page do not share them."""
    numbers: dict[str, str] = {}

    def own(found: re.Match[str]) -> str:
        number = numbers.setdefault(found[2], f"{name}-{len(numbers)}")
        return f"{found[1]}{number}{found[3]}"

    text = re.sub(r'(\bid=")([^"]*)(")', own, text)
    text = re.sub(r"(url\(#)([^)]*)(\))", own, text)
    return re.sub(r'(href="#)([^"]*)(")', own, text)
