"""A mapping that is given, and that a table has all columns for, comes before what the table looks like."""

from __future__ import annotations

import pytest

from iosonde.ingest.recognise import source_of
from iosonde.jobs.table.from_files import mappings
from tests.kit.commands import run

SACCT = (
    "JobID|JobName|Start|End|State|mibs\n7|a|2026-03-01T00:00:00|2026-03-01T01:00:00|COMPLETED|5\n"
)
SLURM = """
[table]
name = "ours"
zone = "UTC"
[job]
job_id = "JobID"
begin = { column = "Start", unit = "text" }
[metrics]
performance_bytes_per_s = { column = "mibs", unit = "MiB/s" }
"""


@pytest.mark.parametrize("folder", [False, True])
def test_a_mapping_that_fits_wins_over_recognition(tmp_path, folder, capsys):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "jobs.csv").write_text(SACCT)
    (logs / "other.csv").write_text(SACCT.replace("mibs", "xyz"))
    mapping = tmp_path / "site.toml"
    mapping.write_text(SLURM)
    given_ = [str(logs)] if folder else [str(logs / "jobs.csv"), str(logs / "other.csv")]
    assert run("import", *given_, "--mapping", str(mapping), store=tmp_path / "s") == 0
    out = capsys.readouterr().out
    assert "jobs.csv: table of jobs (ours): 1 job" in out
    assert "other.csv: sacct: " in out
    assert "naive-time" not in out.partition("jobs.csv")[2].partition("other.csv")[0]
    assert run("import", *given_, store=tmp_path / "t") == 0
    assert "ours" not in capsys.readouterr().out


def test_a_mapping_that_names_no_job_takes_nothing_from_what_is_known(tmp_path):
    path, mapping = tmp_path / "jobs.csv", tmp_path / "site.toml"
    path.write_text(SACCT)
    mapping.write_text("[metrics]\nx = 'mibs'\n")
    assert source_of(path, mappings([mapping])).KIND == "sacct"
