"""`iosonde bench bandwidth` beside a bare loop in C and fio; cost of the harness alone.

    sudo python -m benchmarks bandwidth [--rounds 5] [--block 256] [--places tmpfs,ext4]

Rounds alternate (ours, bare, bare, ours) with transfers of 1 MiB, buffered and O_DIRECT, on tmpfs and on a fresh ext4
on a loop device in memory. A ratio is the median over rounds of ours / bare; that of processor time,
bare / ours, is the steadier one on a loaded machine.
fio, where it is installed, runs the same on the same place. ext4 is left out where it cannot be mounted. The harness's
own cost is processor time, which other work on the machine does not add to.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.speed.metadata import IOSONDE, ext4, tmpfs

SOURCE = Path(__file__).parent / "bare/bare_bandwidth.c"
TRANSFER = 1 << 20
AT_LEAST = 0.98
MOST_NS = 57
DEEP = ("--ioengine=io_uring", "--iodepth=16")
Measured = list[tuple[float, float]]
"""Of the write and of the read: bytes per second, nanoseconds of processor that ranks took."""


def rows_of(place: str, *words: object) -> list[dict]:
    command = [IOSONDE, "bench", "bandwidth", place, "--no-store", "--format", "json", *words]
    told = subprocess.run([str(w) for w in command], check=True, capture_output=True, text=True)
    return [
        row for row in json.loads(told.stdout)["rows"] if row["rank"] is None and row["op"] is None
    ]


def ours(place: Path, ranks: int, block: int, direct: bool, depth: int = 1) -> Measured:
    words = ["-n", ranks, "-t", TRANSFER, "-b", block, "--queue-depth", depth]
    rows = rows_of(str(place), *words, *(["--direct"] if direct else []))
    found = {row["phase"]: (row["last_bytes_per_s"], row["cpu_time_ns"]) for row in rows}
    return [found["write"], found["read"]]


def bare(binary: Path, place: Path, ranks: int, block: int, direct: bool) -> Measured:
    words = [place, ranks, TRANSFER, block, int(direct)]
    told = subprocess.run(
        [str(binary), *map(str, words)], check=True, capture_output=True, text=True
    )
    write, read = (tuple(map(float, line.split())) for line in told.stdout.splitlines())
    return [write, read]


def fio(place: Path, ranks: int, block: int, direct: bool, *engine: str) -> Measured:
    """``engine``: the options of one."""
    rates = []
    for way in ("write", "read"):
        command = ["fio", "--name=j", f"--directory={place}", f"--rw={way}", f"--bs={TRANSFER}"]
        command += [f"--size={block}", f"--numjobs={ranks}", f"--direct={int(direct)}"]
        command += [*engine, "--group_reporting", "--output-format=json"]
        command += ["--fallocate=none", "--invalidate=0"]
        told = subprocess.run(command, check=True, capture_output=True, text=True)
        job = json.loads(told.stdout)["jobs"][0]
        worked = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job[way]["runtime"] * 1e6
        rates.append((float(job[way]["bw_bytes"]), worked))
    for file in place.glob("j.*"):
        file.unlink()
    return rates


def ratios(mine: Callable[[], Measured], other: Callable[[], Measured], rounds: int) -> list[tuple]:
    """Of writes and reads, medians over rounds of four runs: rates, ours / theirs, theirs / ours of processor."""
    found: list[list[Measured]] = [[], []]
    for number in range(rounds):
        order = (0, 1, 1, 0) if number % 2 == 0 else (1, 0, 0, 1)
        for which in order:
            found[which].append((mine, other)[which]())
    lines = []
    for way in range(2):
        rates, worked = (
            [
                [(each[2 * i][way][what] + each[2 * i + 1][way][what]) / 2 for i in range(rounds)]
                for each in found
            ]
            for what in range(2)
        )
        lines.append(
            (
                *(statistics.median(each) for each in rates),
                statistics.median(a / b for a, b in zip(*rates, strict=True)),
                statistics.median(b / a for a, b in zip(*worked, strict=True)),
            )
        )
    return lines


def show(name: str, lines: list[tuple]) -> None:
    for way, (mine, other, ratio, worked) in zip(("write", "read"), lines, strict=True):
        numbers = f"{mine / 2**20:10,.0f} {other / 2**20:10,.0f} {ratio:7.3f} {worked:9.3f}"
        print(f"{name:34} {way:6} {numbers}  >= {AT_LEAST}", flush=True)


def harness(ranks: int) -> float:
    """Nanoseconds of processor a transfer of 4 KiB on nothing takes, with latencies, bins and stamps."""
    rows = rows_of("null:", "-n", ranks, "-t", "4k", "-b", "4G", "-R", 5, "--phases", "write")
    return statistics.median(row["cpu_time_ns"] / row["ops"] for row in rows)


def main(
    rounds: int = 5,
    block: int = 256,  # MiB of a rank
    places: str = "tmpfs,ext4",
) -> None:
    for ranks in (1, 2):
        print(
            f"harness on nothing, {ranks} ranks: {harness(ranks):.1f} ns a transfer (<= {MOST_NS})"
        )
    print(
        f"\n{'place':34} {'way':6} {'ours MiB/s':>10} {'bare MiB/s':>10} {'ratio':>7} {'processor':>9}  aim",
        flush=True,
    )
    have_fio = shutil.which("fio") is not None
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "bare_bandwidth"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(binary), str(SOURCE)], check=True)
        for name in places.split(","):
            fresh = {"tmpfs": tmpfs, "ext4": ext4}[name]
            for direct in (False, True):
                for ranks in (1, 2):
                    title = f"{name}, {'O_DIRECT' if direct else 'buffered'}, {ranks} ranks"
                    try:
                        with fresh() as place:
                            given = (ranks, block << 20, direct)
                            mine = lambda p=place, g=given: ours(p, *g)  # noqa: E731
                            mine()  # touch the memory behind the place once
                            loop = lambda p=place, g=given: bare(binary, p, *g)  # noqa: E731
                            show(title, ratios(mine, loop, rounds))
                            if have_fio:
                                peer = lambda p=place, g=given: fio(p, *g, "--ioengine=psync")  # noqa: E731
                                show(f"{title}; bare = fio psync", ratios(mine, peer, rounds))
                            if direct and name == "ext4":
                                deep = lambda p=place, g=given: ours(p, *g, depth=16)  # noqa: E731
                                show(f"{title}; depth 16 / 1", ratios(deep, mine, rounds))
                                if have_fio:
                                    peer = lambda p=place, g=given: fio(p, *g, *DEEP)  # noqa: E731
                                    show(
                                        f"{title}; bare = fio io_uring",
                                        ratios(deep, peer, rounds),
                                    )
                    except subprocess.CalledProcessError as error:
                        print(f"{title:34} left out: {error}")
    if not have_fio:
        print("\nfio is not installed: not compared")
