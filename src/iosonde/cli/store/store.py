"""iosonde store: upkeep of a store, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from iosonde.model.errors import UsageError

HELP = """\
usage: iosonde store UPKEEP [options]

Upkeep of a store.

  seal       turn closed spool segments into Parquet; --to sends them elsewhere
  compact    merge small sealed files; remove old samples on request
  check      count rows that stand twice; --repair makes each count once
  forget     remove states and baselines of probes that have ended
  clean      remove test files of iosonde from a directory

examples:
  iosonde store seal                 once an hour, from a timer; 'iosonde serve' does it too
  iosonde store compact              once a day, on one host
  iosonde store check --repair       each row counts once afterwards
  iosonde store clean /work/me -n    list what lies in a directory

Each works on a store (--store DIR). 'iosonde store seal --help' shows all options of one.
"""


def _named(module: str) -> Callable[[Sequence[str]], int]:
    """Command of a module, which is imported on use."""

    def run(arguments: Sequence[str]) -> int:
        code: int = importlib.import_module(f"iosonde.cli.store.{module}").main(arguments)
        return code

    return run


UPKEEP = {name: _named(name) for name in ("seal", "compact", "check", "forget", "clean")}


def main(arguments: Sequence[str]) -> int:
    """Find the upkeep command by name and run it."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0 if arguments else UsageError.exit_code
    if arguments[0] not in UPKEEP:
        from iosonde.cli.shared.options import nearest

        near = nearest(arguments[0], UPKEEP)
        raise UsageError(
            f"there is no upkeep {arguments[0]!r}",
            expected=f"one of {', '.join(UPKEEP)}",
            hint=f"'iosonde store {near}'" if near else "'iosonde store --help'",
        )
    return UPKEEP[arguments[0]](arguments[1:])
