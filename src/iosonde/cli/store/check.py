"""iosonde store check: duplicate rows of a store."""

from __future__ import annotations

import os
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.cli.shared.render import show
from iosonde.model.errors import NothingMeasuredError
from iosonde.weather.upkeep import answers

EXAMPLES = """\
  iosonde store check                              0: each row stands once; 1: some stand twice
  iosonde store check --repair                     each row counts once from then on
  iosonde store check --store /shared/iosonde      a folder that hosts ship to
  iosonde store check --store s3://bucket/prefix --repair    new objects take the place of old ones
  iosonde store check --json | jq .doubled_rows
"""


def main(arguments: Sequence[str]) -> int:
    """Print duplicates, and repair them on request."""
    summary = "Find rows that stand twice in samples and roll-ups, and make each count once."
    parser = options.Parser("store check", summary, EXAMPLES)
    parser.add_argument("--repair", action="store_true", help="make each row count once")
    parser.add_text_or_json()
    parser.add_store()
    args = parser.parse(arguments)
    bucket = options.store_bucket(args)
    root = options.store_folder(args) if args.repair and not bucket else options.store_root(args)
    if not root.is_dir():
        raise NothingMeasuredError(f"there is no store {root}", hint="--store")
    with working("check") as progress:
        found = answers.check(root, progress)
    if found.left and args.repair:
        found = answers.repair(found, bucket, os.environ)
    show(found, args)
    for line in found.notes() if args.format == "text" else ():
        options.note(line)
    return found.exit_code
