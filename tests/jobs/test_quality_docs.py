"""What docs/quality.md, importing.md and reading-the-data.md say of imported records is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from iosonde.connectors import sources
from iosonde.connectors.prometheus import http_api as prometheus_http
from iosonde.jobs.environment import servers
from iosonde.jobs.environment.join import join
from iosonde.jobs.store import jobs
from iosonde.jobs.store import series as metrics
from iosonde.jobs.table.coverage import MOST
from iosonde.jobs.umami import diagram as umami
from iosonde.model.metrics import Edge
from iosonde.model.quality import QUALITY
from tests.jobs.test_job_from_raw import traffic
from tests.jobs.test_metrics_store import START, job

DOCS = Path(__file__).parents[2] / "docs"
QUALITY_PAGE, IMPORTING = (
    " ".join((DOCS / f"{n}.md").read_text().split()) for n in ("quality", "importing")
)
READING = (DOCS / "reading-the-data.md").read_text()


def test_every_flag_has_its_row_and_no_other_word_has() -> None:
    told = re.findall(
        r"^\| `([a-z-]+)` \| .+ \| .+ \|$", (DOCS / "quality.md").read_text(), flags=re.M
    )
    assert told == list(QUALITY)


def test_the_limits_are_those_of_the_code() -> None:
    assert f"a coverage factor above {MOST}" in QUALITY_PAGE
    assert servers._MUCH == umami.LARGEST_GAP == 0.01
    assert "this flag from 1% on" in QUALITY_PAGE
    assert (servers.STALE_NS, servers.LOOK_BACK_NS) == (3600 * 10**9, 86_400 * 10**9)
    assert "older than an hour they are `stale`, older than a day not used" in IMPORTING
    for flag in sorted(servers._OF_SAMPLES):
        assert f"`{flag}`" in QUALITY_PAGE.partition("Through to the answer")[2]
    assert f"`{prometheus_http.TOKEN}`" in IMPORTING


WORDS = {
    **{
        "lustre.tokio_timeseries": "TOKIO TimeSeries",
        "lustre.lmt.sql": "LMT's tables",
        "lustre.lmt.wire": "wire strings",
    },
    **{
        "lustre.proc": "`/proc` and `/sys`",
        "lustre.job_stats": "`job_stats`",
        "lustre.lfs_df": "`lfs df`",
    },
    **{
        "lustre.lctl_dl": "`lctl dl -t`",
        "scheduler.job_table": "SQLite table of completed jobs",
        "darshan.log": "Darshan log",
    },
    **{
        "darshan.text": "`darshan-parser`",
        "scheduler.sacct_json": "`--json`",
        "scheduler.jobcomp": "jobcomp/filetxt",
        "prometheus.text": "Prometheus' text",
    },
    "client.mountstats": "`/proc/self/mountstats`",
    "client.raw_collectl": "collectl's recording",
    "client.proc_net_rpc": "`/proc/net/rpc/nfs`",
    "disks.iostat_json": "`-o JSON`",
    "tables.places": "table of parts",
    "client.cgroups": "control groups and processes of jobs",
}


@pytest.mark.parametrize("module", sources.MODULES)
def test_every_connector_has_a_row(module: str) -> None:
    rows = [
        line for line in (DOCS / "importing.md").read_text().splitlines() if line.startswith("|")
    ]
    assert any(WORDS.get(module, module.rpartition(".")[2]) in row.split("|")[1] for row in rows)


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language} imported\n(.*?)```", READING, flags=re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for one in ("OST0000", "OST0001"):
        metrics.write_edges(tmp_path, [Edge("lctl dl", "fs1", START, "ost", one, "oss1")])
    metrics.write_block(
        tmp_path, traffic("read_bytes", [[1, 2], *[[1, 1]] * 40, [3, float("nan")]])
    )
    made = job(file_system="fs1")
    scalars = {
        **made.scalars,
        "own_bytes": made.scalars["performance_bytes_per_s"]._replace(unit="bytes"),
    }
    jobs.write_jobs(tmp_path, [job(file_system="fs1", scalars=scalars)])
    join(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
def test_the_sql_runs() -> None:
    daily, places, both = (duckdb.sql(sql).fetchall() for sql in snippets("sql"))
    assert [row[1:3] for row in daily] == [("OST0000", 44.0), ("OST0001", 42.0)]
    assert [row[3] for row in daily] == [0, pytest.approx(1 / 42)]
    assert places == [("oss1", 2)]
    assert both == [("7", "vpic", 5e9, 45.0, 0.0)]


@pytest.mark.usefixtures("folder")
def test_the_python_runs() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (code,) = snippets("python")
    exec(compile(code, "reading-the-data.md", "exec"), {})
