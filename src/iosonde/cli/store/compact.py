"""iosonde store compact: merging of a day's small files, and removal of old ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.cli.shared.render import print_blocks
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import DAY_NS, parse_duration
from iosonde.weather.upkeep import answers

EXAMPLES = """\
  iosonde store compact                          from a timer, once a day, on one host
  iosonde store compact --keep 400d              samples of more than 400 days go; roll-ups stay
  iosonde store compact --keep 400d --keep-rollups 3650d --dry-run
"""


def main(arguments: Sequence[str]) -> int:
    """Merge files, then remove old ones."""
    summary = "Merge the sealed files of a host's day into one; remove old samples on request."
    parser = options.Parser("store compact", summary, EXAMPLES)
    parser.add_argument(
        "--keep", type=_age, metavar="TIME", help="age of samples that go (default: all stay)"
    )
    parser.add_argument(
        "--keep-rollups",
        type=_age,
        metavar="TIME",
        help="age of roll-ups that go (default: all stay)",
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="list what would go, and change nothing"
    )
    parser.add_argument(
        "--grace",
        type=options.reads(parse_duration),
        metavar="TIME",
        help="age from which merged files replace their parts on disk (default: 10min)",
    )
    parser.add_store()
    args = parser.parse(arguments)
    root = options.store_folder(args)
    if not root.is_dir():
        raise NothingMeasuredError(f"there is no store {root}", hint="--store")
    if args.keep and args.keep_rollups and args.keep_rollups < args.keep:
        raise UsageError("roll-ups outlive samples", expected="--keep-rollups of --keep or longer")
    told = 0 if args.dry_run else _compact(root, args.grace)
    return max(told, _retain(args, root))


def _age(text: str) -> int:
    age_ns = options.reads(parse_duration)(text)
    if age_ns < DAY_NS:
        raise argparse.ArgumentTypeError(f"{text} is less than a day")
    return age_ns


def _compact(root: Path, grace_ns: int | None) -> int:
    with working("compact") as progress:
        done = answers.compact(root, options.now_ns(), grace_ns, progress)
    return _told(done)


def _retain(args: argparse.Namespace, root: Path) -> int:
    if args.keep is None and args.keep_rollups is None:
        if args.dry_run:
            raise UsageError("--dry-run shows what --keep removes", hint="--keep 400d --dry-run")
        return 0
    now_ns = options.now_ns()
    return _told(answers.retain(root, now_ns, args.keep, args.keep_rollups, dry=args.dry_run))


def _told(done: answers.Done) -> int:
    """Print files and notes."""
    print_blocks(done.made)
    for line in done.told:
        options.note(line)
    return done.exit_code
