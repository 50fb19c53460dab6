"""What locate costs: ``python -m benchmarks.locate_truth.speed [--files 100000] [--transfers 8] [--osts 1000]``."""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from benchmarks import machine
from benchmarks.locate_truth.simulate import Noise, healthy, run, with_ost
from benchmarks.locate_truth.systems import ost, system
from iosonde.bench.locate.locate import locate


def main() -> None:
    """Seconds, processor seconds and the memory of a process that simulates a run and searches it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--transfers", type=int, default=8)
    parser.add_argument("--osts", type=int, default=1000)
    options = parser.parse_args()
    here, rng = system(options.osts), np.random.default_rng(1)
    noise = Noise(
        0.15,
        0.03,
        repetitions=options.transfers // 2,
        files_per_ost=options.files // options.osts,
        slope=0.25,
    )
    fault = with_ost(healthy(here), np.array([17]), 0.8)
    transfers = run(here, noise, fault, rng)
    wall, busy = time.monotonic(), time.process_time()
    found = locate(transfers, here.topology())
    wall, busy = time.monotonic() - wall, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    right = [one.components for one in found.slow] == [(ost(17),)]
    print(machine.line())
    print(f"{len(transfers)} transfers over {options.osts} OSTs: {wall:.1f} s, {busy:.1f} s of CPU")
    print(
        f"largest memory of the process {peak:.2f} GiB; the slow OST {'found' if right else 'missed'}"
    )


if __name__ == "__main__":
    main()
