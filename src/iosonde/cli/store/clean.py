"""iosonde store clean: removal of iosonde's files in a directory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.render import show
from iosonde.host.timed import HungError, in_time
from iosonde.model.units import parse_duration
from iosonde.weather.upkeep import answers

EXAMPLES = """\
  iosonde store clean /work/me -n      what lies there
  iosonde store clean /work/me         remove it

Only marked directories below DIR/.iosonde-UID go, of the user who asks, and none that a probe or a benchmark uses.
"""


def main(arguments: Sequence[str]) -> int:
    """Remove unused files; 1 if something stays."""
    parser = options.Parser("store clean", "Remove what iosonde keeps in a directory.", EXAMPLES)
    parser.add_argument("directory", metavar="DIR", help="a directory that was probed or measured")
    parser.add_argument("-n", "--dry-run", action="store_true", help="list only, remove nothing")
    parser.add_text_or_json()
    parser.add_argument(
        "--timeout",
        type=options.reads(parse_duration),
        default="10m",
        metavar="TIME",
        help="time limit, even where storage hangs (default: 10m)",
    )
    args = parser.parse(arguments)
    late = HungError(f"{args.directory} did not answer in time", hint="again when it answers")
    return in_time(lambda: _answer(args), args.timeout / 1e9, lambda: late)


def _answer(args: argparse.Namespace) -> int:
    found = answers.clean(args.directory, dry=args.dry_run)
    show(found, args)
    for line in found.notes() if args.format == "text" else ():
        options.note(line)
    return found.exit_code
