"""Files of imported Darshan logs: ``iosonde locate`` finds the slow OST of a job whose log is gone."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.kit.commands import run
from tests.kit.records.darshan_made import MIB, Made, moved, write_log

RANKS, OSTS, SLOW = 64, 8, 5


def log(path: Path, job: int, slow: float) -> Path:
    """A file a rank, two stripes each; those with a stripe on one OST take ``slow`` times as long."""
    rng = random.Random(job)
    records, osts = [], {}
    for rank in range(RANKS):
        file = f"/work/out.{rank}"
        mine = (rank % OSTS, (rank + 1 + rank // OSTS % (OSTS - 1)) % OSTS)
        took = rng.lognormvariate(0, 0.03) * (slow if SLOW in mine else 1.0)
        times = {
            "F_WRITE_START_TIMESTAMP": 1.0,
            "F_WRITE_END_TIMESTAMP": 1.0 + took,
            "F_WRITE_TIME": took,
        }
        records.append(moved("POSIX", file, rank, written=100 * MIB, **times))
        osts[file] = mine
    return write_log(path, Made(tuple(records), ranks=RANKS, job_id=job, osts=osts))


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_slow_ost_of_a_job_whose_log_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_folder: bool
) -> None:
    folder, store = tmp_path / "logs", tmp_path / "store"
    folder.mkdir()
    logs = [log(folder / "a.darshan", 4711, 4.0), log(folder / "b.darshan", 4712, 1.0)]
    given = [folder] if as_folder else logs
    assert run("import", *map(str, given), store=store) == 0
    assert "'iosonde locate darshan-4711-solver-" in capsys.readouterr().out
    for path in logs:
        path.unlink()
    assert run("locate", "4711", "--format", "json", store=store) == 0
    (found,) = json.loads(capsys.readouterr().out)["slow"]
    assert found["components"] == [f"OST{SLOW:04x}"]
    assert run("locate", "4712", store=store) == 0
    assert "Nothing is slow" in capsys.readouterr().out
    assert run("locate", "47", store=store) == 2
    assert "there is no run '47'" in capsys.readouterr().err
