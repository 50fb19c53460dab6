"""Which records are about a target: by its name, its mount point, its component's whole, its path."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iosonde.jobs.attribution.records import OwnedComponent
from iosonde.jobs.attribution.stored import _each_once
from iosonde.jobs.attribution.systems import recorded_systems
from iosonde.jobs.blame.answers import blamed
from iosonde.jobs.blame.interval import BlameQuestion
from iosonde.jobs.store.operations import RecordedComponent
from iosonde.jobs.store.series import write_block
from iosonde.model.metrics import MetricBlock
from tests.kit.samples.makers import SECOND, START, probed, state

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def records(root: Path, system: str, per_step: dict[str, np.ndarray], metric: str) -> None:
    """Job counters of control groups, a record each 10 s."""
    values = np.column_stack(list(per_step.values()))
    times = START + 10 * SECOND * np.arange(len(values), dtype=np.int64)
    steps = np.full(len(values), 10 * SECOND)
    names = tuple(f"{job}@n1" for job in per_step)
    unit = "bytes" if metric.endswith("bytes") else "operations"
    write_block(
        root,
        MetricBlock("cgroup", system, "job", metric, unit, "delta", names, times, steps, values),
    )


def watch(root: Path, **changes: object) -> None:
    one = state(**changes)
    path = root / "state" / str(one["host"]) / "one.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(one))


@pytest.mark.parametrize(
    ("target", "path", "of"),
    [
        ("/work", "/elsewhere", ("/work",)),
        ("fast", "/work", ("/work",)),
        ("fast", "/work/probes/iosonde", ("/work",)),
        ("fast", "/work/deep/er", ("/work/deep",)),
        ("fast", "/workers", None),
        ("fast", "/lustre/a", None),
        ("fast", "/", ("/",)),
    ],
)
def test_a_target_has_the_records_of_its_mount(
    tmp_path: Path, target: str, path: str, of: tuple[str, ...] | None
) -> None:
    for system in ("/", "/work", "/work/deep", "8:16"):
        records(tmp_path, system, {"7": np.full(30, 5.0)}, "read_ops")
    watch(tmp_path, target=target, path=path)
    assert recorded_systems(tmp_path, target, START, START + MINUTE) == of


def test_operations_on_a_file_system_without_a_name_may_be_the_targets(tmp_path: Path) -> None:
    watch(tmp_path, target="fast", path="/work/probe")
    records(tmp_path, "", {"7": np.full(30, 5.0)}, "read_ops")
    assert recorded_systems(tmp_path, "fast", START, START + MINUTE) is None
    records(tmp_path, "/work", {"8": np.full(30, 5.0)}, "read_ops")
    assert recorded_systems(tmp_path, "fast", START, START + MINUTE) == ("", "/work")


def test_what_servers_counted_for_a_job_is_not_counted_on_its_nodes_again() -> None:
    def owned(job: str, node: str, system: str) -> OwnedComponent:
        of = RecordedComponent("lustre", system, "job", f"{job}@{node}", 0, 1, 1)
        return OwnedComponent(of, node, job)

    server, unnamed = owned("7", "", "work"), owned("7", "n1", "")
    elsewhere, other, node = owned("7", "n1", "/tmp"), owned("8", "n1", ""), owned("", "n2", "")
    all_of_them = [server, unnamed, elsewhere, other, node]
    assert _each_once(all_of_them, None) == [server, elsewhere, other, node]
    assert _each_once([*all_of_them[:2], other, node], ("work", "")) == [server, other, node]


def test_a_component_has_the_records_of_its_whole(tmp_path: Path) -> None:
    records(tmp_path, "/work", {"7": np.full(30, 5.0)}, "read_ops")
    watch(tmp_path, target="/work:MDT1", path="/x", component={"of": "/work", "name": "MDT1"})
    assert recorded_systems(tmp_path, "/work:MDT1", START, START + MINUTE) == ("/work",)


def test_a_job_on_another_file_system_is_not_blamed_for_this_one(tmp_path: Path) -> None:
    """Job 4712 did more, smaller operations at the same time, on /home."""
    rng = np.random.default_rng(3)
    seconds = 4 * 3600
    slow = slice(3 * 3600, 3 * 3600 + 600)
    service = 1e-3 * np.exp(0.2 * rng.standard_normal(seconds))
    service[slow] *= 40
    probed(tmp_path, service, START, host="n1")
    steps = seconds // 10
    hog = np.full(steps, 2.0)
    hog[1080:1140] = 90.0
    small = np.full(steps, 5.0)
    small[1078:1150] = 3000.0
    for metric, size in (("write_ops", 1.0), ("written_bytes", 1e6)):
        records(tmp_path, "/work", {"4711": hog * size}, metric)
    for metric, size in (("write_ops", 1.0), ("written_bytes", 512.0)):
        records(tmp_path, "/home", {"4712": small * size}, metric)
    asked = BlameQuestion("/work")
    answer = blamed(tmp_path, asked, START + 4 * HOUR)
    assert [one.who for one in answer.found.ranked] == ["4711"]
    assert answer.question.systems == ("/work",)
    every = blamed(tmp_path, asked._replace(systems=("/work", "/home")), START + 4 * HOUR)
    assert every.found.ranked[0].who == "4712"
