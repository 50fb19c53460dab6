"""iosonde import: tables of jobs and Prometheus servers come into the store with all that is wrong in them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from iosonde.connectors.benchmarks.kinds import KINDS
from iosonde.connectors.source import Settings
from iosonde.ingest.recognise import source_of
from iosonde.ingest.tables import table_reader
from iosonde.jobs.store import jobs
from iosonde.jobs.store import series as metrics
from iosonde.jobs.store.series import SeriesName
from iosonde.model.errors import UsageError
from iosonde.model.jobs import Job
from tests.jobs.test_metrics_store import S
from tests.kit.commands import run
from tests.kit.jobs import tables
from tests.kit.samples.latencies import gathered

KNOWN = (
    "_file_system,darshan_jobid,darshan_start_time,darshan_end_time,darshan_app,darshan_nprocs,"
    "darshan_tot_bytes_read_posix,darshan_tot_bytes_written_posix,darshan_agg_perf_by_slowest_posix,"
    "darshan_total_gibs_posix,darshan_biggest_read_api_files,darshan_biggest_write_api_files,"
    "fs_tot_bytes_read,fs_tot_bytes_written"
)


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('[table]\nname = "our jobs"\n' + tables.MAPPING)
    return path


def test_a_table_with_a_mapping(tmp_path, mapping, capsys):
    rows = [tables.row(i) for i in range(6)]
    rows += [tables.row(6, sr=0, sw=0), tables.row(7, own=0), tables.row(8, start="soon")]
    path = tables.write(tmp_path / "t.csv", *rows)
    store = tmp_path / "store"
    asked = ("import", str(path), "--mapping", str(mapping))
    assert run(*asked, store=store) == 1
    out, err = capsys.readouterr()
    assert "table of jobs (our jobs): 7 jobs, 2023-11-14 22:13:20" in out
    assert "  monitor-down (1): " in out
    assert "  no-traffic (1): " in out
    assert "  missing (1): " in out
    assert "line 10: 'soon' is no begin" in err
    assert "server records of the store cover 0 of 7 jobs" in out
    found = jobs.read_jobs(store)
    assert [job.job_id for job in found] == [str(100 + i) for i in range(7)]
    first, last = found[0], found[-1]
    assert (first.source, first.file_system, first.motif) == ("our jobs", "work", "writer write")
    assert first.scalars["performance_bytes_per_s"].value == 50 * 2**20
    assert first.scalars["own_bytes"][:3] == (4 * tables.GIB, "bytes", "t.csv")
    assert "cf_bandwidth_ratio" not in first.scalars, "derived anew as more is known"
    for name in ("server_read_bytes", "server_written_bytes"):
        assert (last.scalars[name].value, last.scalars[name].flags) == (None, ("monitor-down",))
    assert run(*asked, store=store) == 1
    assert "already in the store" in capsys.readouterr().out
    assert jobs.read_jobs(store) == found
    assert run("explain", "--diagram", "--job", "105", "--format", "json", store=store) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["n_history"] == 5
    metric = {row["metric"]: row for row in data["rows"]}
    assert metric["contention_bandwidth_ratio"]["value"] == pytest.approx(0.2)


def test_a_known_table_needs_no_mapping_and_another_is_not_taken(tmp_path, capsys):
    cells = f"work,7,1700000000,1700000100,/bin/a,4,0,{2 * tables.GIB},100,2,0,4,0,{3 * tables.GIB}"
    path = tables.write(tmp_path / "s.csv", cells, cells.replace(",100,2", ",0.5,2"), head=KNOWN)
    store = tmp_path / "store"
    assert run("import", str(path), store=store) == 0
    assert "table of jobs (pytokio summarize_job): 2 jobs" in capsys.readouterr().out
    other = tables.write(tmp_path / "t.csv", tables.row())
    assert run("import", str(other), store=store) == 1
    assert "t.csv, line 1" in capsys.readouterr().err


def test_rows_of_one_job_at_one_instant_stay_apart(tmp_path, mapping):
    rows = [tables.row(), tables.row(app="reader"), tables.row(1), tables.row(1, perf=3)]
    reader = table_reader(tables.write(tmp_path / "t.csv", *rows), tables_of(mapping))
    assert reader is not None
    items = list(reader.read(tmp_path / "t.csv", Settings(), pytest.fail))
    found = [item for item in items if isinstance(item, Job)]
    assert [job.step for job in found[:2]] == ["work reader write", "work writer write"]
    assert len({job.key for job in found[:2]}) == 2


def tables_of(mapping):
    from iosonde.jobs.table.from_files import mappings

    return mappings([mapping])


def test_a_mapping_that_fits_nothing_or_names_no_job(tmp_path, mapping, capsys):
    path = tables.write(tmp_path / "t.csv", "1,2", head="a,b")
    store = tmp_path / "store"
    assert run("import", str(path), "--mapping", str(mapping), store=store) == 2
    assert "has no column" in capsys.readouterr().err
    bare = tmp_path / "bare.toml"
    bare.write_text('[job]\nfile_system = "a"\n[metrics]\nown_bytes = "b"\n')
    with pytest.raises(UsageError, match="there is no job_id"):
        table_reader(path, tables_of(bare))
    made = gathered(tmp_path / "g.csv", [("create", 0, i / 10, 0.01) for i in range(9)])
    assert source_of(made, tables_of(mapping)).KIND in KINDS, "what another program wrote"
    assert not (store / "jobs").exists()


class Prometheus(BaseHTTPRequestHandler):
    """Answers as a server does that has two counters and a gauge."""

    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        query = parse_qs(urlsplit(self.path).query)
        if "label" in self.path:
            data: object = ["lustre_read_bytes_total", "up"]
        else:
            begin = float(query["start"][0])
            points = [[begin + 60 * i, str(v)] for i, v in enumerate((0, 100, 30, 90))]
            one = {"metric": {"ost": "fs-OST0001"}, "values": points}
            data = {"resultType": "matrix", "result": [one]}
        body = json.dumps({"status": "success", "data": data}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.usefixtures("utc")
def test_a_server_is_asked_for_a_range(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("IOSONDE_PROMETHEUS_TOKEN", "secret")
    monkeypatch.setattr(Prometheus, "asked", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        since, until = "2026-10-01T00:00", "2026-10-01T01:00"
        code = run(
            "import", url, "--since", since, "--until", until, "--every", "1m", store=tmp_path
        )
    finally:
        server.shutdown()
        server.server_close()
    assert code == 0
    out = capsys.readouterr().out
    assert f"{url}: prometheus: 3 samples of 1 metric of fs, 33.33% missing" in out
    assert "  counter-reset (1): " in out
    assert {token for _, token in Prometheus.asked} == {"Bearer secret"}
    assert all("secret" not in path for path, _ in Prometheus.asked)
    name = SeriesName("prometheus", "fs", "ost", "read_bytes")
    begin = 1_790_812_800 * S
    block = metrics.read_block(tmp_path, name, begin, begin + 3600 * S)
    assert block is not None
    assert block.value.ravel().tolist()[::2] == [100, 60]
    assert block.step_ns.tolist() == [60 * S] * 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["ftp://localhost/x"], 1, "expected http://host:port"),
        (["http://127.0.0.1:1"], 1, "cannot ask"),
        (["http://127.0.0.1:1", "--every", "1us"], 2, "whole ms"),
        (["http://127.0.0.1:1", "--since", "tomorrow"], 2, "earlier time"),
        (["http://127.0.0.1:1", "--since", "-1h", "--until", "-2h"], 2, "not before"),
        (["x.csv", "--since", "-1d"], 2, "address of a server"),
    ],
)
def test_what_cannot_be_asked(tmp_path, capsys, arguments, code, words):
    assert run("import", *arguments, store=tmp_path) == code
    assert words in capsys.readouterr().err
