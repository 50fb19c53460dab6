"""A month of one target at 1 Hz: bytes on disk, seconds of `iosonde slowdown`.

The samples are synthetic but as noisy as real ones: lognormal service time (sigma 0.5), lognormal
timer overshoot (median 100 us, sigma 0.3), run-queue waits with a heavy tail, random offsets. They go through the real
spool and the real ``iosonde store seal``.
"""

import json
import platform
import tempfile
import zlib
from pathlib import Path

import numpy as np

from benchmarks import process

DAYS = 30
ROUNDS = 5
OPS = 6
PERIOD_NS = 1_000_000_000
DAY_NS = 86_400 * PERIOD_NS
START_NS = 1_790_000_000 * PERIOD_NS // DAY_NS * DAY_NS
MEDIANS_NS = np.array([1.5e6, 5e5, 5e4, 3e3, 1e4, 2e4])
ROW = np.dtype(
    [(name, "<i8") for name in ("due", "began", "ended", "offset", "runq")]
    + [("target", "<u2"), ("outcome", "<u2"), ("op", "u1"), ("cache", "u1"), ("pad", "<u2")]
)
NULL = np.iinfo(np.int64).min


def rows(random: np.random.Generator, start_ns: int, seconds: int) -> np.ndarray:
    """All samples of ``seconds`` from ``start_ns`` on, in the order in which they are due."""
    n = seconds * OPS
    op = np.tile(np.arange(OPS), seconds)
    made = np.zeros(n, dtype=ROW)
    made["due"] = (
        start_ns + np.repeat(np.arange(seconds), OPS) * PERIOD_NS + op * (PERIOD_NS // OPS)
    )
    made["began"] = made["due"] + random.lognormal(np.log(1e5), 0.3, n).astype(np.int64)
    made["ended"] = made["began"] + (MEDIANS_NS[op] * random.lognormal(0, 0.5, n)).astype(np.int64)
    blocks = random.integers(0, 32_768, n) << 20
    made["offset"] = np.where(op < 2, blocks, NULL)
    waits = np.where(
        random.random(n) < 0.1, random.integers(0, 10**6, n), random.integers(0, 3000, n)
    )
    made["runq"] = waits
    made["op"] = op
    made["cache"] = np.where(op < 2, 0, 4)
    return made


def write_segment(store: Path, number: int, start_ns: int, samples: np.ndarray) -> None:
    """One hour as a spool segment."""
    header = {
        "schema_version": 1,
        "run_id": "0000000000000001",
        "host": platform.node(),
        "seed": 1,
        "segment": number,
        "opened_ns": start_ns,
        "targets": [
            {"name": "/work", "period_ns": PERIOD_NS, "size_bytes": [1 << 20] * 2 + [3901] * 4}
        ],
    }
    path = store / "spool" / platform.node() / f"0000000000000001-{number:06d}.spool"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"IOSPOOL1")
        for payload in (json.dumps(header).encode(), samples.tobytes()):
            lengths = np.array([len(payload), zlib.crc32(payload)], dtype="<u4")
            file.write(lengths.tobytes() + payload)


def main() -> None:
    """Print the tables."""
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="iosonde-month-") as folder:
        store = Path(folder)
        for hour in range(DAYS * 24):
            start_ns = START_NS + hour * 3600 * PERIOD_NS
            write_segment(store, hour, start_ns, rows(random, start_ns, 3600))
        spool = sum(file.stat().st_size for file in store.rglob("*.spool"))
        sealing = process.command("seal", "--store", store)
        sealed = sum(file.stat().st_size for file in store.rglob("*.parquet"))
        print(
            f"one day, one target, 6 ops at 1 Hz: {spool / DAYS / 1e6:.1f} MB in the spool, ",
            end="",
        )
        print(
            f"{sealed / DAYS / 1e6:.2f} MB in Parquet; sealing it takes {sealing.wall_s / DAYS:.2f} s"
        )
        print()
        print(
            f"{'iosonde slowdown over 30 days, 15.5 M samples':<52} {'median s':>9} {'peak MiB':>9}"
        )
        for window in ("60s", "10m", "4h"):
            arguments = ("slowdown", "--store", store, "--since", "2020-01-01", "--window", window)
            took = process.command(*arguments, rounds=ROUNDS)
            print(f"{'windows of ' + window:<52} {took.wall_s:>9.2f} {took.peak_mib:>9.0f}")
