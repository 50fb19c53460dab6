"""Words about the files that a probe creates on its target: before it starts and after it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.model.units import format_size


def files(states: Sequence[dict[str, Any]]) -> list[str]:
    """``/work: 1.00 GiB in 1,001 files while it is probed``; nothing for a target without files."""
    return [
        f"{state['path']}: {format_size(size)} in {state['pool'] + 1:,} files of the probe"
        for state in states
        if (size := size_bytes(state))
    ]


def kept_files(states: Sequence[dict[str, Any]]) -> list[str]:
    """Hints on removing files that stay for the next probe."""
    return [
        f"{format_size(size)} of test files stay for the next probe; "
        f"'iosonde store clean {state['path']}' removes them"
        for state in states
        if (size := size_bytes(state))
    ]


def size_bytes(state: dict[str, Any]) -> int:
    """Bytes of the big file and the pool; 0 if not in the state."""
    parts = (state.get("file_bytes"), state.get("pool"), state.get("object_bytes"))
    if any(part is None for part in parts):
        return 0
    file_bytes, pool, object_bytes = (int(part or 0) for part in parts)
    return file_bytes + pool * object_bytes
