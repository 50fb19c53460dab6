"""Names of segments and of merged files, and the segments in a merged file."""

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
    """Name of the merge of these segments, in a form that agents' retention accepts as a segment."""
    named = sorted(stems)
    digest = hashlib.sha256(",".join(named).encode()).hexdigest()
    return f"{digest[:16]}-{len(named):010}"


def is_merged(stem: str) -> bool:
    """True if a file name is that of a merge of segments."""
    return _MERGED.fullmatch(stem) is not None


def is_segment(stem: str) -> bool:
    """True if a file name is that of an agent's segment, or of a merge: not of an import."""
    return _SEGMENT.fullmatch(stem) is not None


def covered(path: Path) -> tuple[str, ...]:
    """All names in the footer of a merged file; none if it is unreadable."""
    with contextlib.suppress(OSError, ValueError):
        return _covered_once(path)
    return ()


@lru_cache(maxsize=1 << 16)
def _covered_once(path: Path) -> tuple[str, ...]:
    """Names in the footer of a merged file, which never changes. Failures are not cached."""
    named = stems_of(path)
    if not named:
        raise ValueError
    return named
