"""Colours of an UMAMI diagram: the paper's red, orange, green and blue, legible on light and dark.

Their lightness differs as well as their hue, and red, orange, green and blue are those that people who
confuse red and green tell apart best (after Okabe and Ito, Color Universal Design, 2008). The page has the
same in web/styles/umami.css.
"""

from __future__ import annotations

from iosonde.jobs.umami.quartile import Standing

LIGHT = {
    Standing.BAD: "#c4161c",
    Standing.POOR: "#e08a00",
    Standing.OK: "#12966a",
    Standing.GOOD: "#1668b5",
    Standing.NEUTRAL: "#5b6a76",
    Standing.TOO_LITTLE_HISTORY: "#5b6a76",
    Standing.MISSING: "#5b6a76",
}
DARK = {
    Standing.BAD: "#ff6264",
    Standing.POOR: "#ffb347",
    Standing.OK: "#3ecb98",
    Standing.GOOD: "#6db2ff",
    Standing.NEUTRAL: "#a3b0bb",
    Standing.TOO_LITTLE_HISTORY: "#a3b0bb",
    Standing.MISSING: "#a3b0bb",
}
HISTORY = {"light": "#7d5a9e", "dark": "#b79bd6"}
"""Line colour of the runs."""
ANSI = {
    Standing.BAD: "31;1",
    Standing.POOR: "33",
    Standing.OK: "32",
    Standing.GOOD: "34;1",
    Standing.NEUTRAL: "2",
    Standing.TOO_LITTLE_HISTORY: "2",
    Standing.MISSING: "2",
}
"""Terminal colours."""


def role_colour(role: str, *, dark: bool) -> str:
    """The colour of a class."""
    return (DARK if dark else LIGHT)[Standing(role)]


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour ``#rrggbb``."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#ffffff"
