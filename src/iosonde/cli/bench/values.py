"""Parsers for values of ``iosonde bench metadata``: counts, lists, waiting factors, faults."""

from __future__ import annotations

import argparse
import errno
import re
from typing import Any

from iosonde.model.errors import UsageError
from iosonde.model.ops import parse_op
from iosonde.model.units import parse_duration

_MOST = 1_000_000_000
_MOST_SEED = 10**18
_OPS = {word: f"md_{word}" for word in ("create", "stat", "read", "delete")}
"""Op of each word; ``read`` is that of a small object."""


def count(text: str) -> int:
    """Parse an integer from 1 on."""
    return _whole(text, 1)


def count0(text: str) -> int:
    """Parse an integer from 0 on."""
    return _whole(text, 0)


def seed_number(text: str) -> int:
    """Parse a seed."""
    return _whole(text, 0, _MOST_SEED)


def _whole(text: str, least: int, most: int = _MOST) -> int:
    clean = text.strip().replace("_", "")
    scale = {"k": 1000, "M": 1_000_000}.get(clean[-1:], 1)
    digits = clean[:-1] if scale > 1 else clean
    if not re.fullmatch(r"\d{1,18}", digits) or not least <= int(digits) * scale <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
    return int(digits) * scale


def counts(text: str) -> list[int]:
    """Parse ``1,2,4``."""
    return [count(part) for part in text.split(",")]


def words(text: str) -> list[str]:
    """Parse ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def factor(text: str) -> float:
    """Parse ``0.25``, ``1/4``, ``2``."""
    match = re.fullmatch(r"(\d{1,4}(?:\.\d{1,6})?)(?:/(\d{1,4}))?", text.strip())
    below = int(match[2] or 1) if match else 0
    value = float(match[1]) / below if match and below else -1.0
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no waiting factor such as 0.25, 1/4 or 2")
    return value


def fault(text: str) -> dict[str, Any]:
    """Parse ``create:ENOSPC:2s:1s``: op, effect, start, duration."""
    words = text.split(":")
    if not 2 <= len(words) <= 4:
        raise UsageError(f"the fault {text!r} is none", expected="OP:WHAT[:AFTER[:FOR]]")
    op = None if words[0] == "all" else _OPS.get(words[0]) or parse_op(words[0])
    times = [parse_duration(word) for word in words[2:]]
    return {
        "op": op,
        "after_ns": times[0] if times else 0,
        "for_ns": times[1] if len(times) > 1 else None,
        "kind": _kind(words[1], text),
    }


def _kind(word: str, text: str) -> Any:
    if word == "hang":
        return "Hang"
    if word.startswith("+"):
        return {"Delay": parse_duration(word[1:])}
    if re.fullmatch(r"x\d{1,6}(\.\d{1,3})?", word):
        return {"Multiply": float(word[1:])}
    number = getattr(errno, word, None)
    if isinstance(number, int) and word.startswith("E"):
        return {"Error": number}
    raise UsageError(
        f"the fault {text!r} has no known effect",
        expected="an errno such as ENOSPC, +50ms, x3 or hang",
    )
