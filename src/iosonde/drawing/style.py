"""Colours of pictures. The page has the same ramp in its style sheet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """Colours of a picture."""

    ground: str
    ink: str
    faint: str
    grid: str
    sample: str
    median: str
    usual: str
    slow: str
    failed: str
    skipped: str
    unknown: str
    tails: tuple[str, ...]
    """Colours of statistics q25, q75, q90, q95, q99, max: away from the median, in order."""
    ramp: tuple[str, ...]
    """Slowdown at 1, 1.5, 2, 4, 8, 16."""

    @property
    def curves(self) -> tuple[str, ...]:
        """Colours of adjacent curves, in order: eight distinguishable ones."""
        tails = self.tails
        return (
            *(tails[1], self.slow, self.usual, tails[2]),
            *(self.failed, tails[0], self.skipped, self.faint),
        )

    def role(self, name: str) -> str:
        """Colour of a line: of a statistic, of the usual value, or of a slowdown."""
        own = {"median": self.median, "mean": self.usual, "usual": self.usual}
        return (own | dict(zip(TAILS, self.tails, strict=True))).get(name, self.median)


TAILS = ("q25", "q75", "q90", "q95", "q99", "max")
"""Statistics with a colour in ``Style.tails``."""


LIGHT = Style(
    ground="#ffffff",
    ink="#1b2430",
    faint="#667180",
    grid="#e4e8ec",
    sample="#5b8db8",
    median="#123a5c",
    usual="#2a8a57",
    slow="#d9480f",
    failed="#c2182b",
    skipped="#8a5a00",
    unknown="#dde1e6",
    tails=("#86b9dc", "#3b6cb4", "#6a4fc0", "#a02f96", "#c8283c", "#e8752a"),
    ramp=("#e9f3ec", "#f7edc4", "#f8c873", "#ef8a4a", "#cf4433", "#7f1025"),
)
DARK = Style(
    ground="#11161d",
    ink="#e6ebf0",
    faint="#94a1b0",
    grid="#29323d",
    sample="#4d86b5",
    median="#b9dcf7",
    usual="#58c48a",
    slow="#ff7a3d",
    failed="#ff6070",
    skipped="#e0a83c",
    unknown="#2b333d",
    tails=("#5786a8", "#7f9cf0", "#a78bfa", "#e27fd6", "#ff5c6c", "#ffb36b"),
    ramp=("#1c3329", "#5a5426", "#94702a", "#c8672f", "#e2453b", "#ff2f6d"),
)
RAMP_AT = (1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
"""Slowdowns at which the colours of ``Style.ramp`` stand, spaced by their logarithm."""
