"""iosonde store forget: removal of an ended probe from `now`, `check` and the page."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.render import print_blocks
from iosonde.engine.states import read_states
from iosonde.weather.upkeep import answers

EXAMPLES = """\
  iosonde store forget /wrok                     a path that was mistyped
  iosonde store forget /work --host login3       a host that is gone

Samples, windows and events stay. Test files: iosonde store clean DIR.
"""


def main(arguments: Sequence[str]) -> int:
    """Remove states and baselines of the requested targets."""
    summary = "Forget probes that have ended: their states and baselines."
    parser = options.Parser("store forget", summary, EXAMPLES)
    parser.add_argument("target", nargs="+", help="name or path of a target")
    parser.add_argument("--host", help="only of this host (default: all)")
    parser.add_store()
    args = parser.parse(arguments)
    root = options.store_folder(args)
    states = [one for one in read_states(root) if args.host in (None, one["host"])]
    chosen = options.chosen(states, args.target)
    gone = answers.forget(root, chosen, options.now_ns())
    print_blocks(gone.made)
    return gone.exit_code
