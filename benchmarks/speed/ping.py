"""A listing of `iosonde ping` beside a bare loop; seconds until it says something.

    python -m benchmarks ping [--rounds 7]

Listings: alternately in one run, a directory of 16 names. Times of the command: from its start to its first number, its
verdict, and, on a file system frozen before (root only), to its first word of a hang.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde import _core

SOURCE = Path(__file__).parent / "bare/bare_list.c"
COMMAND = Path(sys.executable).with_name("iosonde")
NAMES = 16
LISTS = 20_000


def listings(place: Path, built: Path, rounds: int) -> tuple[float, float, float]:
    """Median ns of ours and of the bare loop, and the median of their ratios."""
    ping = _core.Ping(str(place), 4096, 1, 1)
    for _ in range(NAMES):
        ping.run("md_create")
    (own,) = place.glob(".iosonde-*/ping-*/files")
    ours: list[float] = []
    bare: list[float] = []

    def measure_ours() -> None:
        ours.append(statistics.fmean(ping.run("md_list")[0] for _ in range(LISTS)))

    def measure_bare() -> None:
        words = [str(built), str(own), str(LISTS)]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        bare.append(float(told.split()[0]))

    for number in range(rounds):
        first, second = (measure_ours, measure_bare) if number % 2 else (measure_bare, measure_ours)
        first()
        second()
    ping.remove()
    ratios = [a / b for a, b in zip(ours, bare, strict=True)]
    return statistics.median(ours), statistics.median(bare), statistics.median(ratios)


def first_words(place: Path, stream: str) -> tuple[float, float]:
    """Seconds to the first line of a stream, and to the end."""
    began = time.monotonic()
    words = [str(COMMAND), "ping", str(place), "--store", str(place / "none")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        read = process.stdout if stream == "stdout" else process.stderr
        assert read is not None
        read.readline()
        first = time.monotonic() - began
        process.communicate()
    return first, time.monotonic() - began


@contextmanager
def frozen(folder: Path) -> Iterator[Path]:
    """An ext4 of its own on which nothing can be created."""
    image, mount = folder / "image", folder / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, mount], check=True)
    subprocess.run(["fsfreeze", "-f", mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["fsfreeze", "-u", mount], check=True)
        while subprocess.run(["umount", mount], check=False, capture_output=True).returncode:
            time.sleep(0.1)


def main(rounds: int = 7) -> None:
    """Print both tables."""
    with (
        tempfile.TemporaryDirectory() as disk,
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
    ):
        built = Path(memory) / "bare_list"
        subprocess.run(["cc", "-O2", "-o", built, SOURCE], check=True)
        places = {"tmpfs": Path(memory), "disk": Path(disk)}
        print(
            "\n| listing of 16 names | ours, ns | bare loop, ns | ours / bare |\n|---|---|---|---|"
        )
        for name, place in places.items():
            ours, bare, ratio = listings(place, built, rounds)
            print(f"| {name} | {ours:,.0f} | {bare:,.0f} | {ratio:.2f} |")
        print(
            "\n| from the start of the command, s | first number | verdict | word of a hang |\n|---|---|---|---|"
        )
        for name, place in places.items():
            first, last = first_words(place, "stdout")
            print(f"| {name} | {first:.2f} | {last:.1f} | |")
        with frozen(Path(memory)) as mount:
            first, last = first_words(mount, "stderr")
            print(f"| frozen ext4 | | {last:.1f} | {first:.2f} |")
