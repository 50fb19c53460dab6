"""``iosonde locate`` of a real run: four loop file systems stand for OSTs, and one of them is throttled."""

import os

import pytest

from iosonde.bench.runs import store as runs
from tests.kit import harness
from tests.kit.commands import run
from tests.kit.runs.driven import command, ended, started

pytestmark = [
    pytest.mark.service,
    pytest.mark.measures,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root"),
]
SLOW = 2


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """Four file systems of their own."""
    with harness.four_disks(tmp_path_factory.mktemp("osts"), 96, "ost") as mounts:
        yield mounts


def measured(targets, store, limits):
    """The run's id. ``limits``: bytes per second of each target, 0 without a limit."""
    devices = [harness.device_of(one) for one in targets]
    words = ("-n", 8, "-t", "256k", "-b", "4M", "-R", 3, "--direct", "--store", store)
    job = command(*targets, *words, benchmark="bandwidth")
    with harness.throttled(devices[0]) as group:
        for device, limit in zip(devices, limits, strict=True):
            if limit:
                harness.throttle(group, device, limit)
        enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
        with started(arguments=["sh", "-c", enter, "sh", *job]) as process:
            code, _, err = ended(process)
    assert code == 0, err
    return runs.run_ids(store)[-1]


@pytest.mark.parametrize("usual", [0, 40 << 20], ids=["unlimited", "40 MiB/s each"])
def test_the_throttled_file_system_is_named(targets, tmp_path, capsys, usual):
    limits = [usual] * 4
    # Ten times, as a healthy one waits for a second, too, where the disk below is busy with others' writes.
    limits[SLOW] = 4 << 20
    run_id = measured(targets, tmp_path / "store", limits)
    capsys.readouterr()
    assert run("locate", run_id, store=tmp_path / "store") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{targets[SLOW]} is slow: its ")
    assert first.endswith(" the other 3 OSTs, in 3 of 3 repetitions.")
    assert not any(" is slow: " in line for line in rest)


@pytest.mark.parametrize("usual", [0, 16 << 20], ids=["unlimited", "16 MiB/s each"])
def test_where_none_is_throttled_nothing_is_slow(targets, tmp_path, capsys, usual):
    run_id = measured(targets, tmp_path / "store", [usual] * 4)
    capsys.readouterr()
    assert run("locate", run_id, store=tmp_path / "store") == 0
    out = capsys.readouterr().out
    assert out.startswith("Nothing is slow: 4 OSTs differ no more than healthy ones do.")
