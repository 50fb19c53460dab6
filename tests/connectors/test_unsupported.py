"""Outputs that are not read are refused by name, with the place and what to try."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.connectors.sources import connector_of, refusal
from tests.kit.samples.latencies import real

PBS = (
    "04/01/2026 01:01:11;E;4711.server;user=ann group=phys jobname=relax queue=batch "
    "start=1585692071 exec_host=n1/0+n2/0 end=1585695671 Exit_status=0\n"
)
LSF = (
    '"JOB_FINISH" "10.1" 1585695671 4711 1000 33554434 1 1585692000 0 0 1585692071 "ann" "normal"\n'
)
FIXED = "4711_7             wrap      batch       root          2  COMPLETED      0:0 \n"
BY_USER = "ann|relax|4711|COMPLETED by 0|2026-01-02T03:00:00\n"
COLLECTL = "20260102 03:00:00.031 0 0 9 0\n20260102 03:00:05.023 3 0 53 10\n"


def refused(path: Path) -> str:
    assert connector_of(path) is None
    error = refusal(path)
    return f"{error.what}; try {error.hint}"


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        (PBS, "line 1, looks like accounting of PBS or Torque, which is not read", "--mapping"),
        (LSF, "line 1, looks like accounting of LSF, which is not read", "--mapping"),
        (FIXED, "line 1, looks like sacct's jobs without the names", "sacct -P --format=JobID,"),
        (BY_USER, "line 1, looks like sacct's jobs without the names", "sacct without -n"),
        (f"\n{COLLECTL}", "line 2, looks like rows of collectl -P without", "from its first line"),
    ],
    ids=["pbs", "lsf", "sacct fixed", "sacct other order", "collectl"],
)
def test_what_is_not_read_is_named(tmp_path: Path, text: str, told: str, hint: str) -> None:
    path = tmp_path / "log"
    path.write_text(text)
    answer = refused(path)
    assert told in answer
    assert hint in answer.partition("; try ")[2]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("clients/slurm/sacct.txt", "sacct's jobs"),
        ("clients/slurm/sacct_all.txt", "sacct's jobs"),
        ("nfs/sacct_P_steps_D.txt", "sacct's jobs"),
        ("nfs/collectl_P_scdnf.txt", "rows of collectl -P"),
        ("nfs/collectl_P_sf_nfsfilt_c3.txt", "rows of collectl -P"),
    ],
)
def test_real_files_without_their_first_line(tmp_path: Path, place: str, told: str) -> None:
    path = tmp_path / "log"
    path.write_text("".join(real(place).read_text().splitlines(keepends=True)[1:]))
    assert f"line 1, looks like {told}" in refused(path)


def test_a_table_with_a_header_is_not_taken_for_one_without(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("number|owner|how\n4711|ann|COMPLETED|2026-01-02T03:00:00\n")
    assert "looks like" not in refused(path)
