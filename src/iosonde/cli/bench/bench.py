"""iosonde bench: benchmarks, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from iosonde.cli.bench.bandwidth import bandwidth
from iosonde.cli.bench.kernel import kernel
from iosonde.cli.bench.metadata import metadata
from iosonde.cli.bench.nfs import nfs
from iosonde.model.errors import UsageError

HELP = """\
usage: iosonde bench BENCHMARK PLACE... [options]

What storage can do, measured.

  metadata   small objects: create, stat, read, delete; latencies, rates, who is the limit
  bandwidth  large files: write, read; rates while all ranks are busy, until the last is done, over time
  kernel     any mount: how long creates wait while others write blocks of 1 KiB, 64 KiB, 1 MiB
  nfs        an NFS server: how long reads wait while writes come faster and faster

examples:
  iosonde bench metadata /work -n 4              rates and latencies of create, stat, read, delete
  iosonde bench metadata /work -n 4 --adaptive   clients, servers or background work?
  iosonde bench bandwidth /work -n 4 --direct    GiB/s of writes and reads, and which rank held them up

Results go into the store (--store DIR). 'iosonde bench metadata --help' shows all options of one.
"""

BENCHMARKS: dict[str, Callable[[Sequence[str]], int]] = {
    "metadata": metadata,
    "bandwidth": bandwidth,
    "kernel": kernel,
    "nfs": nfs,
}


def main(arguments: Sequence[str]) -> int:
    """Find the benchmark by name and run it."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0 if arguments else UsageError.exit_code
    if arguments[0] not in BENCHMARKS:
        names = ", ".join(BENCHMARKS)
        nfs_url = arguments[0].startswith("nfs:")
        looks_like_place = Path(arguments[0]).is_dir() or ":" in arguments[0]
        raise UsageError(
            f"there is no benchmark {arguments[0]!r}",
            expected=f"one of {names}",
            hint=f"'iosonde bench {'nfs' if nfs_url else 'metadata'} {arguments[0]}'"
            if looks_like_place
            else "'iosonde bench --help'",
        )
    return BENCHMARKS[arguments[0]](arguments[1:])
