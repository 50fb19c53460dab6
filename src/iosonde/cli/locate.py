"""iosonde locate: slow components of the storage, from the transfers of a bandwidth benchmark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.locate import answers
from iosonde.cli.shared import options
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.render import draw, show
from iosonde.model.errors import InputFileError

EXAMPLES = """\
  iosonde locate bandwidth-20261123T0349               a run of the store, as 'iosonde runs' lists it
  iosonde locate 4711                                  a job whose Darshan log was imported
  iosonde locate job.darshan --topology topology.csv   a Darshan log with files on Lustre
  iosonde locate transfers.parquet --topology topology.csv
  iosonde locate transfers.csv --rates rates.csv --plot slow.png
  iosonde locate transfers.csv --format json

The topology has the columns child,parent,level: file (its OST), ost (its server), oss (its router group), pair (a
server's failover pair), rank (its host). docs/locate.md describes the files and each kind of fault.
"""


def main(arguments: Sequence[str]) -> int:
    """Print slow components, and unanswerable questions."""
    args = _parse(arguments)
    found = answers.located(_source(args), args.topology, args.rates, _warn)
    if args.plot is not None:
        draw(found.picture(), args, said=False)
    show(found, args)
    return 0


def _source(args: argparse.Namespace) -> answers.Source:
    """File of this name, else the run of the store. Raises UsageError."""
    path, root = Path(args.run), options.store_root(args)
    if path.exists():
        return answers.Source(path=path)
    known = answers.known_runs(root)
    if not known or path.suffix or len(path.parts) > 1:
        raise InputFileError(
            f"there is no file {args.run}, nor a run of that name in {root}",
            expected="transfers, a Darshan log, or a run that 'iosonde runs' lists",
        )
    name = answers.log_of_job(args.run, known)
    return answers.Source(root=root, run_id=run_named(name, known))


def _warn(message: str) -> None:
    print(f"iosonde: note: {message}", file=sys.stderr)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Slow OSTs, servers, links, routers and clients: which, by how much, how sure."
    parser = options.Parser("locate", summary, EXAMPLES)
    add = parser.add_argument
    add("run", metavar="RUN|FILE", help=_RUN)
    add("--topology", metavar="FILE", help=_TOPOLOGY)
    add("--rates", type=Path, metavar="FILE", help="bytes per rank in bins of 0.25 s")
    add("--plot", type=Path, metavar="FILE", help="picture of times and rates: PNG, SVG or PDF")
    add("--width", type=float, default=12.0, metavar="INCHES", help="width of the picture (12)")
    add("--dark", action="store_true", help="dark picture")
    parser.add_data(("json",))
    parser.add_store()
    return parser.parse(arguments)


_TOPOLOGY = "table child,parent,level; or lustre[:NAME], the servers as this client knows them"
_RUN = (
    "run of the store, or a job of it; or transfers as CSV, Parquet or JSON lines; or a Darshan log"
)
