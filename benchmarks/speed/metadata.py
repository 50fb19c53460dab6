"""`iosonde bench metadata` beside a bare loop in C; cost of the harness alone.

    sudo python -m benchmarks metadata [--rounds 6] [--sets 2 --objects 2000 --iterations 1000 --repetitions 3]

Rounds alternate (ours, bare, bare, ours), each on a fresh ext4 on a loop device in memory, and in a fresh folder of
tmpfs. Every operation is recorded. ext4 is left out where it cannot be mounted.
"""

import contextlib
import json
import shutil
import statistics
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

IOSONDE = Path(sysconfig.get_path("scripts")) / "iosonde"
SOURCE = Path(__file__).parent / "bare/bare_metadata.c"
AT_LEAST = 0.97
MOST_NS = 100


@contextlib.contextmanager
def tmpfs() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="iosonde-metadata-", dir="/dev/shm"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def ext4() -> Iterator[Path]:
    with tmpfs() as folder:
        image, mount = folder / "image", folder / "mount"
        mount.mkdir()
        with image.open("wb") as file:
            file.truncate(3 << 30)
        options = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]
        subprocess.run(["mkfs.ext4", *options, str(image)], check=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
        try:
            yield mount
        finally:
            subprocess.run(["umount", str(mount)], check=True)


class Given(NamedTuple):
    """Rounds and the sizes of a run, as options of ``bench metadata``."""

    rounds: int
    sets: int
    objects: int
    iterations: int
    repetitions: int


def ours(place: str, ranks: int, given: Given) -> list[dict]:
    """Rows of the benchmark phase, all ranks together."""
    sizes = ["-D", given.sets, "-P", given.objects, "-I", given.iterations, "-R", given.repetitions]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as store:
        command = [IOSONDE, "bench", "metadata", place, "-n", ranks, *sizes, "--keep"]
        command += ["--samples", "--store", store, "--format", "json"]
        told = subprocess.run(
            [str(word) for word in command], check=True, capture_output=True, text=True
        )
    rows = json.loads(told.stdout)["rows"]
    return [row for row in rows if row["phase"] == "benchmark" and row["rank"] is None]


def our_rate(place: Path, ranks: int, given: Given) -> float:
    rows = [row for row in ours(str(place), ranks, given) if row["op"] is None]
    return statistics.median(row["rate_per_s"] for row in rows)


def bare_rate(binary: Path, place: Path, ranks: int, given: Given) -> float:
    words = [place, ranks, given.sets, given.objects, given.iterations, given.repetitions]
    told = subprocess.run(
        [str(binary), *map(str, words)], check=True, capture_output=True, text=True
    )
    return statistics.median(float(line) for line in told.stdout.split())


def compare(binary: Path, fresh, ranks: int, given: Given) -> tuple[list, list]:
    rates: dict[bool, list[float]] = {True: [], False: []}
    for number in range(given.rounds):
        order = (True, False, False, True) if number % 2 == 0 else (False, True, True, False)
        for mine in order:
            with fresh() as place:
                rate = (
                    our_rate(place, ranks, given)
                    if mine
                    else bare_rate(binary, place, ranks, given)
                )
            rates[mine].append(rate)
    return rates[True], rates[False]


def harness(ranks: int) -> float:
    """Nanoseconds an operation on the null backend, every operation recorded."""
    given = Given(1, 2, 200_000, 100_000, 5)
    rows = [row for row in ours("null:", ranks, given) if row["op"] is None]
    return statistics.median(row["duration_ns"] * ranks / row["ops"] for row in rows)


def main(
    rounds: int = 6,
    sets: int = 2,
    objects: int = 2000,
    iterations: int = 1000,
    repetitions: int = 3,
) -> None:
    """Print the table, then what the harness costs."""
    given = Given(rounds, sets, objects, iterations, repetitions)
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "bare_metadata"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(binary), str(SOURCE)], check=True)
        print(f"\n{'place':8} {'ranks':>5} {'ours ops/s':>12} {'bare ops/s':>12} {'ratio':>7}  aim")
        for name, fresh in (("ext4", ext4), ("tmpfs", tmpfs)):
            for ranks in (1, 2):
                try:
                    mine, bare = compare(binary, fresh, ranks, given)
                except subprocess.CalledProcessError as error:
                    print(f"{name:8} {ranks:>5}  left out: {error}")
                    continue
                ratio = statistics.median(mine) / statistics.median(bare)
                print(
                    f"{name:8} {ranks:>5} {statistics.median(mine):12,.0f} {statistics.median(bare):12,.0f} "
                    f"{ratio:7.3f}  >= {AT_LEAST}"
                )
        for ranks in (1, 2):
            print(
                f"\nharness on the null backend, {ranks} ranks: {harness(ranks):.1f} ns/op (<= {MOST_NS})"
            )
