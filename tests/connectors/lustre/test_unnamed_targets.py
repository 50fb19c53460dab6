"""Lists of job_stats without a target's name: those of several OSTs add up, snapshots of one do not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from iosonde.connectors.lustre import job_stats
from tests.kit.records.connected import Out, survives, take

T0 = 1790000000
GB = 10**9


class Target:
    """An OST that counts for jobs, as Lustre does: an entry ends 600 s after its last change."""

    def __init__(self, rng: random.Random, starts: bool) -> None:
        self._rng, self._starts = rng, starts
        self._entries: dict[int, list[int]] = {}
        self.moved: dict[int, int] = {}

    def write(self, job: int, at_ns: int, size: int) -> None:
        entry = self._entries.get(job)
        if entry is None or at_ns - entry[1] > 600 * 10**9:
            entry = self._entries[job] = [at_ns, at_ns, 0]
        entry[1], entry[2] = at_ns, entry[2] + size
        self.moved[job] = self.moved.get(job, 0) + size

    def list(self, at_ns: int) -> str:
        lines = ["job_stats:"]
        for job, (start, changed, size) in self._entries.items():
            if at_ns - changed > 600 * 10**9:
                continue
            lines += [f"- job_id:          {job}", f"  snapshot_time:   {stamp(changed)}"]
            lines += [f"  start_time:      {stamp(start)}"] if self._starts else []
            lines.append(
                f"  write_bytes: {{ samples: 1, unit: bytes, min: 1, max: 1, sum: {size} }}"
            )
        return "\n".join(lines) + "\n"


def stamp(ns: int) -> str:
    return f"{ns // 10**9}.{ns % 10**9:09} secs.nsecs"


def recorded(
    folder: Path, seed: int, targets: int, starts: bool, snapshots: int = 4
) -> tuple[Out, dict[int, int]]:
    """What is read of so many OSTs that were listed every minute, a file each; what each job wrote."""
    rng = random.Random(seed)
    osts = [Target(rng, starts) for _ in range(targets)]
    paths = []
    for minute in range(snapshots):
        for ost in osts:
            for job in range(4711, 4719):
                for _ in range(rng.randint(0, 3)):
                    at = (T0 + 60 * minute) * 10**9 + rng.randrange(58 * 10**9)
                    entry_at = max(at, ost._entries.get(job, [0, 0])[1] + 1)
                    ost.write(job, entry_at, rng.randint(1, 50) * GB)
        for place, ost in enumerate(osts):
            path = folder / f"{rng.random()}"
            path.write_text(ost.list((T0 + 60 * minute + 59) * 10**9 + place))
            paths.append(path)
    rng.shuffle(paths)
    wrote: dict[int, int] = {}
    for ost in osts:
        for job, size in ost.moved.items():
            wrote[job] = wrote.get(job, 0) + size
    return take(job_stats, paths, system="work"), wrote


@pytest.mark.parametrize(
    ("targets", "starts"), [(1, False), (2, False), (1, True), (2, True), (4, True)]
)
@pytest.mark.parametrize("seed", range(6))
def test_what_jobs_wrote_on_all_targets(
    tmp_path: Path, seed: int, targets: int, starts: bool
) -> None:
    out, wrote = recorded(tmp_path, seed, targets, starts)
    found = {int(job.job_id): job.scalars["own_written_bytes"].value for job in out.jobs}
    assert found == wrote
    assert ("estimated" in out.flags()) == (targets > 1)


def entry(job: str, at: int, size: int) -> str:
    return (
        f"- job_id: {job}\n  snapshot_time: {at}\n"
        f"  write_bytes: {{ samples: 1, unit: bytes, min: 1, max: 1, sum: {size} }}\n"
    )


def written(out: Out) -> dict[str, float | None]:
    return {job.job_id: job.scalars["own_written_bytes"].value for job in out.jobs}


def test_lists_one_below_the_other_are_of_several_targets(tmp_path: Path) -> None:
    """107 + 161 GB: ``lctl get_param -n obdfilter.*.job_stats`` prints a list an OST."""
    path = tmp_path / "jobs"
    one, other = entry("4711", T0, 107 * GB), entry("4711", T0 - 2, 161 * GB)
    path.write_text(f"job_stats:\n{one}job_stats:\n{other}")
    assert written(take(job_stats, path, system="work")) == {"4711": 268 * GB}


def test_lists_below_one_time_are_of_several_targets(tmp_path: Path) -> None:
    path = tmp_path / "jobs"
    lists = "".join(
        f"BEGIN {T0 + 60 * n}\njob_stats:\n{entry('7', T0 + 60 * n - 9, 5 + n)}"
        f"job_stats:\n{entry('7', T0 + 60 * n - 3, 90 + 10 * n)}"
        for n in range(2)
    )
    path.write_text(lists)
    out = take(job_stats, path, system="work")
    assert written(out) == {"7": 106}
    assert out.values("written_bytes", "7") == [11]


def test_the_name_of_a_file_says_the_target(tmp_path: Path) -> None:
    for ost in range(3):  # these contradict in nothing: only their names tell them apart
        path = tmp_path / f"oss1_work-OST000{ost}.txt"
        path.write_text(f"job_stats:\n{entry('7', T0 + ost, 100 + ost)}")
    out = take(job_stats, sorted(tmp_path.iterdir()))
    assert written(out) == {"7": 303}
    assert out.jobs[0].file_system == "work"


def test_one_target_whose_lists_were_appended(tmp_path: Path) -> None:
    path = tmp_path / "jobs"
    path.write_text("".join(f"job_stats:\n{entry('7', T0 + 60 * n, 100 * n)}" for n in range(1, 4)))
    out = take(job_stats, path, system="work")
    assert written(out) == {"7": 300}
    assert out.values("written_bytes", "7") == [100, 100]


def test_an_entry_that_was_dropped_and_made_again_is_no_other_target(tmp_path: Path) -> None:
    path = tmp_path / "jobs"
    path.write_text(f"job_stats:\n{entry('7', T0, 500)}job_stats:\n{entry('7', T0 + 3600, 20)}")
    out = take(job_stats, path, system="work")
    assert out.flags()["counter-reset"] == 1
    assert "estimated" not in out.flags()


def test_a_list_before_a_file_breaks_counts(tmp_path: Path) -> None:
    import gzip

    text = "".join(f"job_stats:\n{entry('7', T0 + 60 * n, 100 * n)}" for n in range(1, 2000))
    path = tmp_path / "jobs.gz"
    path.write_bytes(gzip.compress(text.encode())[:-3000])
    out = take(job_stats, path, system="work")
    assert out.ended is not None
    assert written(out)["7"] > 100


def test_mutated(tmp_path: Path) -> None:
    text = "".join(
        f"job_stats:\n{entry('7', T0 + 60 * n, 100 * n)}{entry('8', T0 + n, n)}" for n in range(5)
    )
    survives(job_stats, tmp_path / "jobs", text.encode(), 80)
