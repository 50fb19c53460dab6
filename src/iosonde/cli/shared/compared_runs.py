"""``iosonde compare`` of two bandwidth runs."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from iosonde.bench.bandwidth.compare import BandwidthRatio, compare_rates
from iosonde.bench.bandwidth.compare_words import (
    HEAD,
    rate_cells,
    rates_json,
    say_differences,
    say_rates,
)
from iosonde.bench.runs.store import StoredRun
from iosonde.cli.shared import options
from iosonde.cli.shared.target_or_run import runs_named
from iosonde.cli.shared.text import table
from iosonde.engine.files import write_frame
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import Frame
from iosonde.weather.store import Store

SCHEMA_VERSION = 1


def bandwidth_pair(store: Store, names: tuple[str, str]) -> tuple[StoredRun, StoredRun] | None:
    """Both runs where both names are bandwidth runs; None where none is. Raises UsageError for one of each."""
    if any("@" in name for name in names):
        # A period of a target or run: samples are asked for.
        return None
    found = runs_named(store, names, _is_bandwidth)
    a, b = found
    if a is not None and b is not None:
        return a, b
    if a is not None or b is not None:
        other = names[0 if a is None else 1]
        raise UsageError(
            f"{other!r} is no bandwidth run, the other side is one",
            expected="two bandwidth runs",
            hint="'iosonde runs'",
        )
    return None


def _is_bandwidth(run: StoredRun) -> bool:
    return run.rows[0].instrument == "bandwidth"


def compare_runs(pair: tuple[StoredRun, StoredRun], args: argparse.Namespace) -> int:
    """Print the verdict of each rate, or the numbers as data."""
    a, b = pair
    if a.run_id == b.run_id:
        raise UsageError(f"both sides are {a.run_id}", expected="two runs")
    if args.plot is not None or args.quantiles or args.op:
        raise UsageError(
            "--plot, --quantiles and --op are for samples of a probe",
            hint="'iosonde report RUN' has the pictures of a bandwidth run",
        )
    found = compare_rates(a.rows, b.rows, args.margin)
    if not found:
        raise NothingMeasuredError("the two runs have no rate in common")
    if args.format == "table":
        _print(pair, found, args.margin)
    elif args.format == "json":
        _write_json(pair, found, args)
    else:
        _write_csv(found, args)
    return 0


def _print(pair: tuple[StoredRun, StoredRun], found: list[BandwidthRatio], margin: float) -> None:
    for name, run in zip("AB", pair, strict=True):
        first = run.rows[0]
        print(f"{name}: run {run.run_id}, {first.ranks or 'n/a'} ranks on {first.target}")
    print("\n" + "\n".join(say_rates(found, margin)))
    print("\n" + table(HEAD, rate_cells(found), left=3))
    if differences := say_differences(pair[0].rows[0], pair[1].rows[0]):
        print(f"\nnote: {differences}")


def _write_json(
    pair: tuple[StoredRun, StoredRun], found: list[BandwidthRatio], args: argparse.Namespace
) -> None:
    document = {
        "schema_version": SCHEMA_VERSION,
        "margin": args.margin,
        **{name: run.run_id for name, run in zip("ab", pair, strict=True)},
        **rates_json(found, args.margin),
    }
    text = json.dumps(document, indent=2) + "\n"
    options.put_text(text, args.output)


def _write_csv(found: list[BandwidthRatio], args: argparse.Namespace) -> None:
    names = [
        name for name in BandwidthRatio.__slots__ if name not in ("direction", "rate", "verdict")
    ]
    columns = {
        name: np.array([getattr(one, name) for one in found], dtype=object)
        for name in ("direction", "rate", "verdict")
    } | {name: np.array([getattr(one, name) for one in found], dtype=np.float64) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_frame(Frame(columns), path, "csv")
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")
