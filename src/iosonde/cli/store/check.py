"""iosonde store check: duplicate rows of a store."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.cli.shared.text import table
from iosonde.engine.left_out import with_left_out
from iosonde.engine.remote.s3 import bucket_of
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.units import format_count
from iosonde.weather.upkeep.doubled import Checked, Doubled, Repaired, repair
from iosonde.weather.upkeep.doubled import check as look

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
        found = look(root, progress)
    if not found.doubled or not args.repair:
        _tell(args, root, found, None)
        return 1 if found.doubled else 0
    done = repair(root, found.doubled)
    if bucket:
        _put(bucket, root, done.made)
    left = look(root)
    _tell(args, root, found, replace(done, told=[*done.told, *map(_still, left.doubled)]))
    return 1 if left.doubled else 0


def _put(bucket: str, root: Path, made: Sequence[Path]) -> None:
    """Send repaired files to the bucket whose copy they were made in: roll-ups, then samples."""
    place = bucket_of(bucket, os.environ)
    for path in made:
        place.put(path.relative_to(root).as_posix(), path)


def _still(one: Doubled) -> str:
    return f"{format_count(one.twice)} rows of {one.table} of {one.host} on {one.date} still stand twice"


def _tell(args: argparse.Namespace, root: Path, found: Checked, done: Repaired | None) -> None:
    if args.format == "json":
        print(json.dumps(with_left_out(_document(found, done), root), indent=2))
        return
    if found.doubled:
        rows = [
            (one.table, one.date, one.host, *map(format_count, (one.files, one.rows, one.twice)))
            for one in found.doubled
        ]
        print(table(("table", "date", "host", "files", "rows", "twice"), rows))
    twice = _twice(found, "samples")
    print(
        f"{format_count(found.files)} files, {format_count(found.rows)} rows of samples; "
        f"{format_count(twice)} rows count twice"
        + (
            f", and {format_count(rolled)} in roll-ups"
            if (rolled := _twice(found, "rollups"))
            else ""
        )
    )
    if done is not None:
        for line in done.told:
            options.note(line)
        print(
            f"{format_count(len(done.made))} files written, in which each row counts once; "
            "'iosonde store compact' removes what they replace"
        )
    elif found.doubled:
        options.note("'iosonde store check --repair' makes each row count once")


def _twice(found: Checked, of: str) -> int:
    return sum(one.twice for one in found.doubled if one.table == of)


def _document(found: Checked, done: Repaired | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "files": found.files,
        "rows": found.rows,
        "doubled_rows": _twice(found, "samples"),
        "doubled_in_rollups": _twice(found, "rollups"),
        "doubled": [one._asdict() for one in found.doubled],
        "repaired": None,
    }
    if done is not None:
        document["repaired"] = {"made": list(map(str, done.made)), "not_repaired": done.told}
    return document
