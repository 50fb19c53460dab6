"""iosonde store seal: conversion of closed spool segments to Parquet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.engine.layout.root import is_bucket
from iosonde.host.boots import this_boot
from iosonde.model.errors import IosondeError, NothingMeasuredError, UsageError
from iosonde.model.units import format_size
from iosonde.weather.seal import seal
from iosonde.weather.slowdown.words import say_namesake
from iosonde.weather.upkeep.ship import ship

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
        made = seal(root, report=note)
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
        done = ship(root, to, os.environ, endpoint=endpoint, progress=progress, boot=this_boot())
    for line in (*done.told, *map(say_namesake, done.namesakes)):
        options.note(line)
    size = format_size(done.sent_bytes)
    files = f"{len(done.sent)} files sent to {to}, {size}; {done.there} were there"
    options.note(f"{files}; {done.states} states replaced")
    return 1 if done.told else 0
