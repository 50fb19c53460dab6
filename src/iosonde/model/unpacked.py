"""How much a packed file may hold: text packs to a tenth, and a few megabytes of nothing unpack to gigabytes."""

from __future__ import annotations

LEAST_BYTES = 64 << 20
"""So much may come out of any file."""
MOST_TIMES = 100
"""No more than so many times its size, beyond that."""


def too_much(unpacked_bytes: int, packed_bytes: int) -> bool:
    """Whether a file of ``packed_bytes`` holds more than records do."""
    return unpacked_bytes > max(LEAST_BYTES, MOST_TIMES * packed_bytes)


def says_too_much(path: object) -> tuple[str, str, str]:
    """What happened, what was expected, what to try."""
    what = f"{path} unpacks to more than {MOST_TIMES} times its size"
    return what, "records, which pack to a tenth", "unpacking it, and importing what came out"
