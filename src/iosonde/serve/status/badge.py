"""A badge: a name and a few words on a colour, as SVG without external fonts, scripts or styles."""

from __future__ import annotations

from iosonde.drawing.html_text import escape

COLORS = {
    "ok": "#2e7d4f",
    "info": "#4a6b8a",
    "unknown": "#6b6b6b",
    "slow": "#a85b00",
    "hung": "#b3261e",
}
"""Colours by severity; white text on each has a contrast of 4.5 or more."""
_WIDE, _NARROW = set("mwMWQO@%_—"), set("iljtfrI.,:;|'!()[]/ ")
_LONGEST = 60


def badge(label: str, message: str, severity: str, title: str) -> str:
    """SVG of the badge. ``title``: the sentence, for screen readers and as a tooltip."""
    label, message = _shortened(label), _shortened(message)
    left, right = _width(label), _width(message)
    name, words, whole = escape(label), escape(message), escape(title, quote=True)
    color = COLORS.get(severity, COLORS["unknown"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{whole}">'
        f"<title>{whole}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="{color}"/>'
        f'<path d="M3 0h{left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#333"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14" textLength="{left - 12}">{name}</text>'
        f'<text x="{left + right / 2:g}" y="14" textLength="{right - 12}">{words}</text></g></svg>'
    )


def _shortened(text: str) -> str:
    """The end of a long path, which is more informative than its beginning."""
    return text if len(text) <= _LONGEST else f"...{text[-_LONGEST:]}"


def _width(text: str) -> int:
    """Width of a text in 11 px with 6 px on either side; ``textLength`` makes the font fit."""
    return 12 + round(sum(10 if c in _WIDE else 4.2 if c in _NARROW else 7 for c in text))
