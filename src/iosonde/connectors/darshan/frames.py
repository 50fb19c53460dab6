"""Length-prefixed JSON between two processes: one value at a time and no byte more."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTH = struct.Struct("<I")
MOST_BYTES = 1 << 28


def read_frame(descriptor: int) -> dict[str, Any] | None:
    """Read the next value; None at the end, or if the other process died within one."""
    head = _exactly(descriptor, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    body = _exactly(descriptor, length) if length <= MOST_BYTES else None
    if body is None:
        return None
    value = json.loads(body)
    return value if isinstance(value, dict) else None


def write_frame(descriptor: int, value: dict[str, Any]) -> None:
    """Write one value. Raises OSError if the reader is gone."""
    body = json.dumps(value, separators=(",", ":")).encode()
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _exactly(descriptor: int, count: int) -> bytes | None:
    pieces = []
    while count:
        piece = os.read(descriptor, min(count, 1 << 16))
        if not piece:
            return None
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
