"""iosonde seal: closed spool segments become Parquet."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.weather.seal import seal

EXAMPLES = """\
  iosonde seal                    run it from a timer, once an hour; 'iosonde serve' does it too
  iosonde seal --store /data/io
"""


def main(arguments: Sequence[str]) -> int:
    """Seal and name the new files."""
    summary = "Turn the spool segments that no probe writes any more into Parquet."
    parser = options.Parser("seal", summary, EXAMPLES)
    parser.add_store()
    root = options.store_root(parser.parse(arguments))
    if not root.is_dir():
        raise NothingMeasuredError(
            f"there is no store {root}", hint="'iosonde probe DIR', or --store"
        )
    told: list[str] = []

    def note(line: str) -> None:
        told.append(line)
        options.note(line)

    try:
        made = seal(root, report=note)
    except IosondeError as error:
        if str(error) not in told:
            raise
        return error.exit_code
    for path in made:
        print(path)
    if not made:
        options.note(f"nothing to seal in {root}")
    return 0
