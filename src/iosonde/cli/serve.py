"""iosonde serve: the web page and its API."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import options

if TYPE_CHECKING:
    from iosonde.serve.upkeep import Upkeep

EXAMPLES = """\
  iosonde serve                           http://127.0.0.1:8765, this machine only
  iosonde serve --listen 127.0.0.1:0      any free port
  iosonde serve --listen 0.0.0.0:8765     everyone who can reach this host may read
  iosonde serve --listen 0.0.0.0:8765 --token-file token --tls-cert cert.pem --tls-key key.pem
  iosonde serve --names shown             names of users and jobs instead of aliases
  iosonde serve --store s3://bucket/site  what hosts ship to a bucket, fetched every minute
"""
_FETCH_S = 60.0


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C."""
    parser = options.Parser("serve", "The weather map as a web page, read-only.", EXAMPLES)
    parser.add_argument(
        "--listen",
        default="127.0.0.1:8765",
        metavar="HOST:PORT",
        help="address to listen on (default: 127.0.0.1:8765)",
    )
    parser.add_argument(
        "--names",
        choices=("hashed", "loopback", "shown"),
        help="names of users, accounts and jobs: aliases, shown on loopback only, shown "
        "(default: policy.toml of the store, else hashed)",
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="token that requests must carry, also as a browser's password",
    )
    for option, what in (("--tls-cert", "certificate"), ("--tls-key", "private key of it")):
        parser.add_argument(option, type=Path, metavar="PEM", help=f"{what}, for https")
    parser.add_argument(
        "--no-seal", action="store_true", help="leave the spool to 'iosonde store seal'"
    )
    parser.add_store()
    args = parser.parse(arguments)
    root, upkeep = _store(args)
    from iosonde.serve.access.tls import checked_tls
    from iosonde.serve.access.token import read_token
    from iosonde.serve.run import run

    run(
        root,
        args.listen,
        options.note,
        upkeep=upkeep,
        name=options.store_name(args),
        names_shown=args.names,
        token=None if args.token_file is None else read_token(args.token_file),
        tls=checked_tls(args.tls_cert, args.tls_key),
    )
    return 0


def _store(args: argparse.Namespace) -> tuple[Path, Upkeep | None]:
    """Folder to serve, and its upkeep."""
    from iosonde.serve.upkeep import Upkeep, sealing

    if bucket := options.store_bucket(args):
        from iosonde.cli.shared.stores import fetch, readable

        root = readable(bucket, os.environ)
        return root, Upkeep("fetcher", lambda: fetch(bucket, os.environ), _FETCH_S)
    root = options.store_folder(args)
    return root, None if args.no_seal else sealing(root)
