"""Names of segments and of the files that many segments were merged into, and what such a file stands for."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from iosonde.engine.checksum import stems_of

_SEGMENT = re.compile(r"[0-9a-f]{16}-[0-9]{6,10}")
_MERGED = re.compile(r"[0-9a-f]{16}-[0-9]{10}")


def merged_stem(stems: Iterable[str]) -> str:
    """The name of a file that these segments are merged into: agents' retention takes it for a segment, too."""
    named = sorted(stems)
    digest = hashlib.sha256(",".join(named).encode()).hexdigest()
    return f"{digest[:16]}-{len(named):010}"


def is_merged(stem: str) -> bool:
    """Whether a file has the name of one that segments were merged into."""
    return _MERGED.fullmatch(stem) is not None


def is_segment(stem: str) -> bool:
    """Whether a file has the name of an agent's segment, or of several merged: not of an import."""
    return _SEGMENT.fullmatch(stem) is not None


def covered(path: Path) -> tuple[str, ...]:
    """All that the footer of a merged file names; nothing where it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return _covered_once(path)
    return ()


@lru_cache(maxsize=1 << 16)
def _covered_once(path: Path) -> tuple[str, ...]:
    """Of a file that is never edited, and whose name follows from them. A failure is not remembered."""
    named = stems_of(path)
    if not named:
        raise ValueError
    return named
