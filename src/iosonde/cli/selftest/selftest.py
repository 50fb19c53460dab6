"""iosonde selftest: tests, by name. Another first word is the directory of ``io``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iosonde.cli.selftest.io import io
from iosonde.cli.selftest.nfs import nfs

TESTS: dict[str, Callable[[Sequence[str]], int]] = {"io": io, "nfs": nfs}


def main(arguments: Sequence[str]) -> int:
    """Find the test by name and run it; ``./io`` is a directory of that name."""
    if arguments and arguments[0] in TESTS:
        return TESTS[arguments[0]](arguments[1:])
    return io(arguments)
