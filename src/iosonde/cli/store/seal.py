"""iosonde store seal: conversion of closed spool segments to Parquet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.engine.layout.root import is_bucket
from iosonde.model.errors import IosondeError, NothingMeasuredError, UsageError
from iosonde.weather.upkeep import answers

EXAMPLES = """\
  iosonde store seal                    run it from a timer, once an hour; 'iosonde serve' does it too
  iosonde store seal --store /data/io
  iosonde store seal --to /shared/iosonde            and send what is sealed to a folder of many hosts
  iosonde store seal --to s3://bucket/prefix         or to a bucket; keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
"""


def main(arguments: Sequence[str]) -> int:
    """Seal, and print the new files."""
    summary = "Turn the spool segments that no probe writes any more into Parquet."
    parser = options.Parser("store seal", summary, EXAMPLES)
    parser.add_argument(
        "--to", metavar="PLACE", help="folder or s3://bucket/prefix that gets all sealed files"
    )
    parser.add_argument(
        "--endpoint", metavar="URL", help="address of the S3 server (default: $AWS_ENDPOINT_URL)"
    )
    parser.add_store()
    args = parser.parse(arguments)
    if args.endpoint and not is_bucket(str(args.to)):
        raise UsageError("--endpoint is of a bucket", expected="--to s3://bucket/prefix")
    root = options.store_folder(args)
    if not root.is_dir():
        raise NothingMeasuredError(
            f"there is no store {root}", hint="'iosonde probe DIR', or --store"
        )
    told: list[str] = []

    def note(line: str) -> None:
        told.append(line)
        options.note(line)

    try:
        made = answers.seal(root, note)
    except IosondeError as error:
        if str(error) not in told:
            raise
        return error.exit_code
    for path in made:
        print(path)
    if not made:
        options.note(f"nothing to seal in {root}")
    return _ship(root, args.to, args.endpoint) if args.to else 0


def _ship(root: Path, to: str, endpoint: str | None) -> int:
    """Send sealed files and print their number."""
    with working("ship") as progress:
        done = answers.ship(root, to, os.environ, endpoint, progress)
    for line in done.told:
        options.note(line)
    return done.exit_code
