"""iosonde store: the upkeep of a store, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iosonde.cli.shared.options import nearest
from iosonde.cli.store.check import check
from iosonde.model.errors import UsageError

HELP = """\
usage: iosonde store WORK [options]

The upkeep of a store.

  check      rows that stand twice in it, in numbers; --repair makes each count once

examples:
  iosonde store check                        exit code 0: each row stands once
  iosonde store check --repair
  iosonde store check --store s3://bucket/prefix --json

'iosonde store check --help' shows all options of one.
"""

WORKS: dict[str, Callable[[Sequence[str]], int]] = {"check": check}


def main(arguments: Sequence[str]) -> int:
    """Find the work and do it."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0 if arguments else UsageError.exit_code
    if arguments[0] not in WORKS:
        near = nearest(arguments[0], WORKS)
        raise UsageError(
            f"there is no store {arguments[0]!r}",
            expected=f"one of {', '.join(WORKS)}",
            hint=f"'iosonde store {near}'" if near else "'iosonde store --help'",
        )
    return WORKS[arguments[0]](arguments[1:])
