"""Limit on the size of unpacked files: text packs to a tenth, but a few megabytes of zeros unpack to gigabytes."""

from __future__ import annotations

LEAST_BYTES = 64 << 20
"""Size that any file may unpack to."""
MOST_TIMES = 100
"""Largest compression ratio beyond that size."""


def too_much(unpacked_bytes: int, packed_bytes: int) -> bool:
    """True if a file of ``packed_bytes`` unpacks to an implausible size."""
    return unpacked_bytes > max(LEAST_BYTES, MOST_TIMES * packed_bytes)


def says_too_much(path: object) -> tuple[str, str, str]:
    """Error message, expectation and hint."""
    what = f"{path} unpacks to more than {MOST_TIMES} times its size"
    return what, "records, which pack to a tenth", "unpacking it, and importing what came out"
