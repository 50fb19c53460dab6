"""The run of docs/locate.md: its tables and its picture, written to FOLDER.

python -m benchmarks locate_picture FOLDER
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.truth.locate.plant import plant
from benchmarks.truth.locate.simulate import Noise, run
from benchmarks.truth.locate.systems import system
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.sheet import locate_sheet
from iosonde.bench.locate.words import say
from iosonde.drawing.render_sheet import save_sheet
from iosonde.engine.files import write_frame
from iosonde.model.frames import Frame
from iosonde.model.transfers import DIRECTIONS

SEED, OSTS = 8, 112
"""The system of figure 8 of the paper: an IB link at SDR speed."""


def main(folder: Path) -> None:
    """transfers.csv, topology.csv and locate.png."""
    rng, machine = np.random.default_rng(SEED), system(OSTS)
    truth = plant(machine, "SDR link", rng)
    transfers = run(machine, Noise(0.05, 0.02, 3, slope=0.25), truth.fault, rng)
    topology = machine.topology()
    found = locate(transfers, topology)
    sheet = locate_sheet(transfers, topology, found, say(found))
    save_sheet(sheet, folder / "locate.png")
    columns = {
        "repetition": transfers.repetition,
        "direction": np.array(DIRECTIONS, dtype=object)[transfers.direction],
        "rank": transfers.rank,
        "host": np.array(transfers.hosts, dtype=object)[transfers.host],
        "file": np.array(transfers.files, dtype=object)[transfers.file],
        "targets": np.array(transfers.targets, dtype=object)[transfers.stripes.target],
        "bytes": transfers.bytes,
        "transfer_begin_ns": transfers.transfer_begin_ns,
        "transfer_end_ns": transfers.transfer_end_ns,
        "position": transfers.position,
    }
    known = {name: column for name, column in columns.items() if column is not None}
    write_frame(Frame(known), folder / "transfers.csv", "csv")
    edges = [(c, p, level) for level, e in topology.parents.items() for c, p in e.items()]
    child, parent, level = (np.array(part, dtype=object) for part in zip(*edges, strict=True))
    write_frame(
        Frame({"child": child, "parent": parent, "level": level}), folder / "topology.csv", "csv"
    )
