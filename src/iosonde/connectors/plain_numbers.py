"""Numbers in foreign text: finite decimal ones, and nothing else."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_COUNT = re.compile(r"\d{1,20}", re.ASCII)


def plain(text: str) -> float | None:
    """Parse a finite number; None for nan, inf or malformed text."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def count(text: str) -> int | None:
    """Parse an integer from 0 to 2**64 - 1, exactly; None for anything else."""
    text = text.strip()
    if not _COUNT.fullmatch(text):
        return None
    value = int(text)
    return value if value < 2**64 else None
