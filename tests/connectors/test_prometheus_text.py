"""Pages of exporters: counters to deltas, gauges as they are, histograms left out and counted."""

import math
import os
from pathlib import Path

import numpy as np
import pytest

from iosonde.connectors.gpfs import mmdf, mmpmon
from iosonde.connectors.prometheus import text as prometheus_text
from iosonde.connectors.source import head_of
from tests.kit.commands import run
from tests.kit.records.connected import Out, survives, take
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_700_000_000
OST = '{component="ost",target="fs-OST0000"}'


def page(path: Path, *lines: str) -> Path:
    path.write_text("# TYPE lustre_read_bytes_total counter\n" + "\n".join(lines) + "\n")
    return path


def ost(value: object, second: float | None, labels: str = OST) -> str:
    return f"lustre_read_bytes_total{labels} {value}" + (
        "" if second is None else f" {second * 1000:.0f}"
    )


def notes(out: Out) -> dict[str, int]:
    return {note.what: note.n for block in out.blocks for note in block.notes}


def test_counters_with_times(tmp_path: Path) -> None:
    path = page(tmp_path / "a", ost("1e3", T), ost(1500, T + 15), ost(1600, T + 30))
    assert prometheus_text.recognises(head_of(path))
    out = take(prometheus_text, path)
    assert out.series("read_bytes", "fs-OST0000", "fs") == [
        (T * S, 15 * S, 500),
        ((T + 15) * S, 15 * S, 100),
    ]
    assert {block.level for block in out.blocks} == {"ost"}


def test_openmetrics_counts_seconds(tmp_path: Path) -> None:
    path = page(
        tmp_path / "a",
        f"lustre_read_bytes_total{OST} 1 {T}",
        f"lustre_read_bytes_total{OST} 3 {T + 15}.5",
        "# EOF",
    )
    assert take(prometheus_text, path).series("read_bytes", "fs-OST0000") == [
        (T * S, 15 * S + S // 2, 2)
    ]


def test_pages_without_times_are_as_old_as_their_files(tmp_path: Path) -> None:
    paths = []
    for n in (0, 1):
        paths.append(
            page(tmp_path / str(n), ost(100 * n, None), f"lustre_capacity_kilobytes{OST} 7")
        )
        os.utime(paths[-1], ns=(0, (T + 60 * n) * S))
    out = take(prometheus_text, paths)
    assert out.series("read_bytes", "fs-OST0000") == [(T * S, 60 * S, 100)]
    assert out.values("total_bytes", "fs-OST0000") == [7168, 7168]
    assert "estimated" in out.flags()
    one = take(prometheus_text, paths[0])
    assert one.values("total_bytes", "fs-OST0000") == [7168]
    assert "read once" in one.told[0]


def test_older_labels_jobs_and_clients(tmp_path: Path) -> None:
    lines = []
    for n in (0, 1):
        for name, labels in (
            ("lustre_read_bytes_total", 'ost="fs-OST0001"'),
            ("lustre_job_read_bytes_total", 'component="ost",jobid="17",target="fs-OST0001"'),
            (
                "lustre_stats_total",
                'component="client",target="fs-ffff88",operation="open",instance="n1:9169"',
            ),
            ("lustre_stats_total", 'component="mdt",target="fs-MDT0000",operation="ping"'),
        ):
            lines.append(f"{name}{{{labels}}} {n} {(T + n) * 1000}")
    out = take(prometheus_text, page(tmp_path / "a", *lines))
    assert out.values("read_bytes", "fs-OST0001", "fs") == [1]
    assert [v for *_, v in out.series("read_bytes", "17@fs-OST0001", level="job")] == [1]
    assert [v for *_, v in out.series("opens", "n1:9169", "fs", "client")] == [1]
    assert notes(out)["lustre_stats_total: no such samples are read"] == 2


def test_escapes(tmp_path: Path) -> None:
    job = r'component="ost",jobid="a\"b\\c\nd}",target="fs-OST0001"'
    lines = [f"lustre_job_read_bytes_total{{{job}}} {n} {(T + n) * 1000}" for n in (0, 4)]
    path = page(tmp_path / "a", *lines)
    assert prometheus_text.recognises(head_of(path))
    assert take(prometheus_text, path).values("read_bytes", 'a"b\\c\nd}@fs-OST0001') == [4]


def test_histograms_are_left_out_and_counted(tmp_path: Path) -> None:
    path = page(
        tmp_path / "a", "# TYPE h histogram", 'h_bucket{le="+Inf"} 3', "h_sum 3", "h_count 3", "# TYPE q summary",
        'q{quantile="0.5"} 1', ost(1, T), ost(2, T + 1),
    )  # fmt: skip
    out = take(prometheus_text, path)
    why = "histograms and summaries are not read"
    assert notes(out) == {f"h: {why}": 3, f"q: {why}": 1}


KIB = {"capacity": "total_bytes", "free": "free_bytes", "available": "available_bytes"}


@pytest.mark.parametrize("unit", ["kilobytes", "kibibytes"])
def test_room_in_kib_by_either_name(tmp_path: Path, unit: str) -> None:
    lines = [f"lustre_{name}_{unit}{OST} {n} {T * 1000}" for n, name in enumerate(KIB, 1)]
    out = take(prometheus_text, page(tmp_path / "a", *lines))
    for n, metric in enumerate(KIB.values(), 1):
        assert out.values(metric, "fs-OST0000", "fs") == [1024 * n]


@pytest.mark.parametrize("broken", ["lustre_read_bytes_total{component=", "curl: (7) x {", "0x"])
def test_an_indented_page_with_a_broken_line(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "a"
    path.write_text(
        f"  {broken}\n    # HELP lustre_read_bytes_total x\n\t# TYPE lustre_read_bytes_total counter\n"
        f"    {ost(1, T)}\n    {ost(5, T + 15)}\n"
    )
    assert prometheus_text.recognises(head_of(path))
    out = take(prometheus_text, path)
    assert out.values("read_bytes", "fs-OST0000") == [4]
    assert "line 1" in out.told[0]


@pytest.mark.parametrize(
    "text",
    [
        "# TYPE of storage\nlustre_read_bytes_total\n",
        "name value\na 1\nb 2\n",
        "# TYPE a counter\nthis page\nis a letter to\nsomebody else\nand goes on\nand on\n",
        "lustre_read_bytes_total is what\nwe all\nwant to\nread\n",
    ],
)
def test_what_is_no_page(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    assert not prometheus_text.recognises(head_of(path))


def test_an_import_ends_with_the_names_of_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "letter").write_text("dear all\n")
    (folder / "empty").touch()
    (folder / "packed.zst").write_bytes(b"\x28\xb5\x2f\xfdabc")
    lines = [f"lustre_room_kibibytes{OST} 3", "h_bucket 3", f"lustre_free_kibibytes{OST} 7"]
    page(folder / "page.prom", "# TYPE h histogram", *lines)
    assert run("import", str(folder), store=tmp_path / "store") == 0
    said = capsys.readouterr().out
    assert "left out:" in said
    told = said[said.index("left out:") :]
    assert "lustre_room_kibibytes: no such samples are read" in told
    assert "h: histograms and summaries are not read" in told
    assert "letter: no kind that iosonde reads" in told
    assert "empty: is empty" in told
    assert "packed.zst: is packed by zstd; try zstd -d" in told
    assert "lustre_free_kibibytes" not in told


@pytest.mark.parametrize(
    ("values", "expected", "flag"),
    [
        ((1, 5, 2, 3), [4, math.nan, 1], "counter-reset"),
        ((1, "NaN", 7, 8), [6, 1], "not-a-number"),
        ((1, "+Inf", 7, 8), [6, 1], "not-a-number"),
        ((1, "-5", 7, 8), [6, 1], "not-a-number"),
        ((1, "x", 7, 8), [6, 1], "not-a-number"),
    ],
)
def test_traps(
    tmp_path: Path, values: tuple[object, ...], expected: list[float], flag: str
) -> None:
    out = take(
        prometheus_text, page(tmp_path / "a", *(ost(v, T + n) for n, v in enumerate(values)))
    )
    np.testing.assert_array_equal(out.values("read_bytes", "fs-OST0000"), expected)
    assert flag in out.flags()
    assert len(out.told) == (values[1] in ("-5", "x"))


def test_twice_and_out_of_order(tmp_path: Path) -> None:
    lines = [ost(v, T + n) for n, v in ((0, 0), (2, 2), (1, 1), (2, 9), (3, 3))]
    out = take(prometheus_text, page(tmp_path / "a", *lines))
    assert out.values("read_bytes", "fs-OST0000") == [1, 1, 1]
    assert {"duplicate", "out-of-order"} <= set(out.flags())


@pytest.mark.parametrize(
    "line",
    ['lustre_read_bytes_total{ost="a" 1',
     'lustre_read_bytes_total{ost="a",ost="b"} 1', "lustre_read_bytes_total{ost=a} 1",
     f"lustre_read_bytes_total{OST} 1 99999999999999999", "17 18", f"lustre_read_bytes_total{OST}"],
)  # fmt: skip
def test_lines_that_are_no_samples(tmp_path: Path, line: str) -> None:
    out = take(prometheus_text, page(tmp_path / "a", ost(1, T), line, ost(2, T + 1)))
    assert "line 3" in out.told[0]
    assert out.values("read_bytes", "fs-OST0000") == [1]


@pytest.mark.parametrize(
    "text", ["", "a b c\n", "time,runtime\n1,2\n", "# TYPE x counter\n{}\n", "JobID|State\n"]
)
def test_other_files_are_not_its(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    assert not prometheus_text.recognises(head_of(path))


def test_the_exporters_page_is_what_mmdf_says() -> None:
    path = real("umami/prometheus/gpfs_exporter_mmdf_expected.prom")
    assert prometheus_text.recognises(head_of(path))
    said, there = (
        take(prometheus_text, path),
        take(mmdf, real("umami/gpfs/mmdf_mmdfStdout.txt"), system="project"),
    )
    for metric in ("total_inodes", "free_inodes", "used_inodes", "metadata_total_bytes"):
        assert said.values(metric, "project") == there.values(metric, "project")
    assert [v for *_, v in said.series("total_bytes", "data", level="pool")] == [
        v for *_, v in there.series("total_bytes", "data", level="pool")
    ]


def test_the_exporters_page_is_what_mmpmon_says(tmp_path: Path) -> None:
    text = real("umami/prometheus/gpfs_exporter_mmpmon_expected.prom").read_text()
    later = text.replace("59420404", "59420414").replace("2.05607400434e+11", "2.05607401434e+11")
    paths = [tmp_path / "0", tmp_path / "1"]
    for n, (path, what) in enumerate(zip(paths, (text, later), strict=True)):
        path.write_text(what)
        os.utime(path, ns=(0, (T + n) * S))
        assert prometheus_text.recognises(head_of(path))
    out = take(prometheus_text, paths)
    assert out.values("read_ops", "ib-pitzer-rw02.ten", "scratch") == [10]
    assert out.values("read_bytes", "ib-pitzer-rw02.ten", "scratch") == [1000]
    assert set(mmpmon.COUNTERS.values()) == {block.metric for block in out.blocks}


def test_a_sample_without_its_file_system(tmp_path: Path) -> None:
    lines = ["gpfs_perf_info 1", "gpfs_perf_read_bytes_total 5", 'gpfs_perf_info{nodename="n1"} 1']
    out = take(
        prometheus_text, page(tmp_path / "a", *lines, 'gpfs_fs_size_bytes{fs="a"} 7'), system="s"
    )
    assert out.values("total_bytes", "a") == [7]


def test_a_real_page_of_another_exporter_is_counted() -> None:
    path = real("nfs/node_exporter_nfs.prom")
    assert prometheus_text.recognises(head_of(path))
    out = take(prometheus_text, path)
    assert not out.blocks


def test_mutated(tmp_path: Path) -> None:
    lines = [ost(n * 10, T + n, f'{{ost="fs-OST000{k}"}}') for n in range(6) for k in range(3)]
    survives(
        prometheus_text,
        tmp_path / "a",
        ("# TYPE lustre_read_bytes_total counter\n" + "\n".join(lines)).encode(),
        120,
    )


NFS = """\
# TYPE node_mountstats_nfs_total_read_bytes_total counter
node_mountstats_nfs_total_read_bytes_total{{export="10.0.0.1:/e",mountaddr="10.0.0.1",protocol="tcp"}} {read}
# TYPE node_mountstats_nfs_operations_requests_total counter
node_mountstats_nfs_operations_requests_total{{export="10.0.0.1:/e",operation="READ",protocol="tcp"}} {ops}
node_mountstats_nfs_operations_requests_total{{export="10.0.0.1:/e",operation="SEQUENCE",protocol="tcp"}} {ops}
# TYPE node_mountstats_nfs_operations_response_time_seconds_total counter
node_mountstats_nfs_operations_response_time_seconds_total{{export="10.0.0.1:/e",operation="READ"}} {ops}.5
# TYPE lustre_client_stats counter
lustre_client_stats{{operation="write_bytes",target="work-ffff923a1497d800"}} {ops}
lustre_client_stats{{operation="write",target="work-ffff923a1497d800"}} 99{ops}
"""


def test_mounts_of_nfs_and_of_lustre(tmp_path: Path) -> None:
    paths = []
    for n in range(2):
        paths.append(tmp_path / f"{n}.prom")
        paths[-1].write_text(NFS.format(read=4096 * n, ops=3 + n))
        os.utime(paths[-1], (1.7e9 + 60 * n,) * 2)
    out = take(prometheus_text, paths)
    assert out.values("read_bytes", "10.0.0.1:/e", "10.0.0.1:/e") == [4096]
    assert out.values("read_ops", "10.0.0.1:/e", "10.0.0.1:/e") == [1]
    assert out.values("read_round_trip_s", "10.0.0.1:/e", "10.0.0.1:/e") == [1]
    assert out.values("write_ops", "work-ffff923a1497d800", "work") == [1]


def test_a_page_of_which_nothing_is_known_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page"
    path.write_text("# TYPE a_total counter\na_total 1\nb_total 2\n")
    assert run("import", str(path), store=tmp_path / "store") == 0
    assert "left-out (2)" in capsys.readouterr().out


def test_what_was_left_out_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page"
    known = "".join(f'lustre_free_kilobytes{{ost="w-OST000{n}"}} 1 {n}\n' for n in range(1, 4))
    path.write_text(f"# TYPE a_total counter\na_total 1\nb_total 2\n{known}")
    assert run("import", str(path), store=tmp_path / "store") == 0
    assert "left-out (2)" in capsys.readouterr().out
