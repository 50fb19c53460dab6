"""Each file of the shared data is recognised by the one connector it is for, or by none of these."""

from __future__ import annotations

import pytest

from iosonde.connectors.lustre import h5lmt, lctl_dl, lfs_df, tokio_timeseries
from iosonde.connectors.lustre import job_stats as lustre_jobstats
from iosonde.connectors.lustre import proc as lustre_proc
from iosonde.connectors.lustre.lmt import sql as lmt_sql
from iosonde.connectors.lustre.lmt import wire as lmt_wire
from iosonde.connectors.source import head_of
from tests.kit.samples.latencies import DATA

CONNECTORS = (
    h5lmt,
    lctl_dl,
    lfs_df,
    lmt_sql,
    lmt_wire,
    lustre_jobstats,
    lustre_proc,
    tokio_timeseries,
)
THEIRS = {
    "snx11025_2018-01-28.h5lmt": h5lmt,
    "snx11025_2018-01-28.hdf5": tokio_timeseries,
    "snx11025_2018-01-28.sqlite3": lmt_sql,
    "sample_ost-map.txt.gz": lctl_dl,
    "sample_ost-fullness.txt.gz": lfs_df,
    "lustre_job_stats_SYNTHETIC.yaml": lustre_jobstats,
    "lustre_proc_1.8.3.tar.gz": lustre_proc,
    "lustre_proc_2.12.9_12.tar.gz": lustre_proc,
    "lustre_exporter_hpe_procsys.tar.gz": lustre_proc,
}


def test_by_what_it_holds():
    files = [
        path
        for part in ("umami", "measuring", "nfs")
        for path in (DATA / part).rglob("*")
        if path.is_file()
    ]
    if not files:
        pytest.skip(f"{DATA} is not there")
    for path in files:
        head = head_of(path)
        wanted = [THEIRS[path.name]] if path.name in THEIRS else []
        assert [c for c in CONNECTORS if c.recognises(head)] == wanted, path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 600,
        b"BEGIN 1489998203\n",
        b"\x1f\x8b\x08junk",
        b"SQLite format 3\x00",
        b"\x89HDF\r\n\x1a\n",
    ],
)
def test_beginnings_of_nothing(tmp_path, data):
    path = tmp_path / "f"
    path.write_bytes(data)
    assert not [c for c in CONNECTORS if c.recognises(head_of(path))]
    assert len({c.KIND for c in CONNECTORS}) == len(CONNECTORS)
