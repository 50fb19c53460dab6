"""Importing IOR and IO500: which files are one run, what is stored once, what is said."""

from __future__ import annotations

import gzip
import random
import re
from datetime import UTC
from pathlib import Path

import pytest

from iosonde.bench.bandwidth import tables
from iosonde.bench.runs import store as runs
from iosonde.connectors.benchmarks.flags import DIFFERS, FLAGS
from iosonde.connectors.benchmarks.ior import summary
from iosonde.connectors.benchmarks.ior.phase_data import COARSE
from iosonde.connectors.benchmarks.kinds import KINDS
from iosonde.connectors.source import Settings
from iosonde.ingest.answers import Question, import_files
from iosonde.ingest.bandwidth import KINDS as BANDWIDTH
from iosonde.ingest.recognise import source_of
from tests.kit import commands
from tests.kit.records import ior_made as made
from tests.kit.records.ior_made import GIB
from tests.kit.records.peers import MDTEST, RANKS
from tests.kit.samples.latencies import MEASURING, real
from tests.kit.samples.makers import SECOND, START

NOW = START + 1000 * SECOND
real_data = pytest.mark.skipif(
    not MEASURING.is_dir(), reason=f"real results are not in {MEASURING} (IOSONDE_DATA)"
)
REAL = {
    "ior/ior-vvv-F-D3-write.txt": "text of IOR",
    "ior/ior-D2-wr-nowearout.txt": "text of IOR",
    "ior/ior.json": "IOR's summary in JSON",
    "ior/ior.csv": "IOR's summary in CSV",
    "ior/ior-rank-w.csv": "IOR's table of ranks",
    "ior/ior-op-w-0-00000.csv": "operations of IOR",
    "ior/ior-op-w-0-00001.csv": "operations of IOR",
    "ior/ior-op-wr-0-00000.READ-OVERWROTE-WRITE.csv": "operations of IOR",
    "io500/result.txt": "result of IO500",
    "io500/result_summary.txt": "summary of IO500",
    "io500/io500-extended.stdout": "summary of IO500",
    "io500/config.ini": "configuration of IO500",
    "io500/ior-easy-write.txt": "text of IOR",
    "io500/ior-easy-write.csv": "IOR's table of ranks",
    "data/io500-ddn-1280ranks-ior-easy-write-verbose2.txt": "text of IOR",
    "data/io500-helios-lustre-640ranks-result.txt": "result of IO500",
    "data/io500-helios-lustre-640ranks-result_summary.txt": "summary of IO500",
    "data/io500-helios-lustre-640ranks-find.csv.gz": "IO500's table of a find phase",
    "data/io500-helios-lustre-640ranks-ior-easy-write.txt": "text of IOR",
    "data/io500-helios-lustre-640ranks-ior-easy-write.csv.gz": "IOR's table of ranks",
    "data/io500-helios-lustre-640ranks-ior-easy-read.csv.gz": "IOR's table of ranks",
    "data/io500-helios-lustre-640ranks-ior-hard-write.csv.gz": "IOR's table of ranks",
}


def put(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / name for name in files]


def imported(root, paths, **naming):
    return import_files(root, Question(paths, Settings(zone=UTC, **naming)), NOW)


def told(capsys, *arguments):
    """Exit code, stdout and stderr of a command."""
    capsys.readouterr()
    code = commands.run(*map(str, arguments))
    return code, *capsys.readouterr()


def of(rows, **wanted):
    return [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]


def test_every_kind_is_recognised_by_what_it_holds(tmp_path):
    found = set()
    for name, text in made.ALL.items():
        # Operations of IOR and of mdtest have the same columns: their names tell.
        path = tmp_path / (name if "op-" in name else f"{len(found)}.gz")
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
        found.add(source_of(path).KIND)
    assert found == set(BANDWIDTH) < set(KINDS)


@real_data
@pytest.mark.parametrize(("place", "kind"), REAL.items())
def test_real_files_are_recognised(place, kind):
    assert kind == source_of(real(f"measuring/{place}")).KIND


def test_all_kinds_at_once_and_twice_changes_nothing(tmp_path):
    root, paths = tmp_path / "store", put(tmp_path / "io500", made.ALL)
    done = imported(root, paths)
    assert done.errors == []
    # A result is called as its folder; of two files of one name the second says what it is.
    assert {one.run_id for one in done.runs} == {"io500", "ior", "ior-json", "ior-ranks"} | {
        *("summary", "op-0-00000")
    }
    before = {path: path.read_bytes() for path in root.rglob("*.parquet")}
    again = imported(root, paths)
    assert {one.new for one in again.runs} == {False}
    assert {path: path.read_bytes() for path in root.rglob("*.parquet")} == before


def test_rates_are_stored_with_the_whole_phase(tmp_path):
    imported(tmp_path / "store", put(tmp_path, {"ior.txt": made.log()}))
    rows = runs.read(tmp_path / "store", run_id="ior")
    (whole,) = of(rows, phase="write", op=None, rank=None)
    assert whole.tail_loss == pytest.approx(made.LOSS, rel=1e-3)
    assert whole.parameters["reported"]["rates_from"] == "timers"
    assert whole.sustained_bytes_per_s == pytest.approx(0.35 * GIB)
    assert whole.last_bytes_per_s == pytest.approx(0.2 * GIB, rel=1e-3)
    assert (whole.instrument, whole.pattern) == ("bandwidth", "own")
    assert len(of(rows, rank=3)) == 4


def test_transfers_and_rates_are_stored_for_locate(tmp_path, capsys):
    root = tmp_path / "store"
    text = made.log().replace("-vvv", "-vvv -w -O savePerOpDataCSV=op")
    files = {f"op-0-0000{rank}.csv": made.ops(s) for rank, s in enumerate(made.ENDS)}
    paths = put(tmp_path, {"ior.txt": text.replace("Commencing read", "nothing"), **files})
    for _ in range(2):
        imported(root, paths)
        found = tables.read_columns(root, "transfers", "ior")
        assert sorted(zip(found["direction"], found["rank"], strict=True)) == [
            (way, rank) for way in ("read", "write") for rank in range(4)
        ]
        assert set(found["bytes"]) == {GIB}
        binned = tables.read_columns(root, "rates", "ior")
        assert binned["bytes"].sum() == pytest.approx(4 * GIB, abs=1000)
    (path,) = (root / "transfers").rglob("ior.parquet")
    code, out, err = told(capsys, "locate", path)
    assert code == 0, err
    assert out


def io500(folder):
    files = {"result.txt": made.RESULT, "result_summary.txt": made.SUMMARY}
    text = made.wear_out((60, 60, 60, 256), 256).replace("-a POSIX", "-w -a POSIX")
    files |= {"ior-easy-write.txt": text, "ior-easy-write.csv": made.rank_table()}
    files |= {"mdtest-easy-write.txt": MDTEST, "mdtest-easy-write.csv": RANKS}
    return put(folder, files | {"find.csv": made.FIND, "config.ini": made.CONFIG})


def test_a_folder_of_io500_is_one_run(tmp_path, capsys):
    root, folder = tmp_path / "store", tmp_path / "2026.03.01-12"
    io500(folder)
    code, out, err = told(capsys, "import", folder, "--store", root, "--zone", "UTC")
    assert code == 0, err
    assert runs.run_ids(root) == ["2026.03.01-12"]
    rows = runs.read(root)
    assert {row.source for row in rows} == {"io500"}
    (write,) = of(rows, phase="ior-easy-write", op=None, rank=None)
    assert (write.bytes, write.ranks, write.target) == (4 * GIB, 4, "/made/data")
    said = write.parameters["reported"]
    assert (said["score"], said["phase_s"]) == (0.2, 20.1)
    assert "Runtime is smaller than expected minimum runtime" in said["invalid"]
    # From the log: the mean rank had done 109 of 256, which its 0.4 GiB say to 3%.
    assert write.stonewall_per_s == pytest.approx(109 * 4 / 5, rel=0.03)
    (slow,) = of(rows, phase="ior-easy-write", op="data_write", rank=3)
    assert (slow.bytes, slow.duration_ns) == (GIB, 20 * SECOND)
    (create,) = of(rows, phase="mdtest-easy-write", op=None, rank=None, repetition=0)
    assert create.parameters["reported"]["score"] == 5.0
    assert of(rows, phase="mdtest-easy-write", rank=1)
    (find,) = of(rows, phase="find", rank=None)
    assert (find.ops, find.parameters["reported"]["found"]) == (26003, 178)
    assert find.parameters["reported"]["score"] == 90.0
    assert len({row.key for row in rows}) == len(rows)
    assert "ior-easy-write 0: 358 MiB/s while all 4 ranks were busy" in out
    assert "the tail cost 43%" in out
    assert "score: 2.44949 (0.282843 GiB/s, 21.213203 kIOPS), invalid" in out
    assert "ior-easy-write: invalid: Runtime is smaller than expected minimum runtime" in out


def test_a_configuration_alone_has_no_results(tmp_path):
    done = imported(tmp_path / "store", put(tmp_path, {"config.ini": made.CONFIG}))
    assert done.nothing
    assert "has no results" in str(done.errors[0])


def test_runs_lists_what_was_imported(tmp_path, capsys):
    root = tmp_path / "store"
    io500(tmp_path / "x")
    put(tmp_path / "x", {"other.txt": made.log()})
    assert told(capsys, "import", tmp_path / "x", "--store", root)[0] == 0
    code, out, _ = told(capsys, "runs", "--store", root)
    assert (code, "other" in out) == (0, True)
    code, out, _ = told(capsys, "runs", "other", "--ranks", "--store", root)
    assert code == 0
    assert "3 (2.00x)" in out
    assert told(capsys, "runs", "--format", "csv", "--store", root)[0] == 0


def test_a_name_is_that_of_the_run_and_not_of_what_lies_beside_it(tmp_path):
    text = made.log().replace("-vvv", "-vvv -O savePerOpDataCSV=op")
    paths = put(tmp_path, {"ior.txt": text, "op-0-00000.csv": made.ops(10.0)})
    done = imported(tmp_path / "store", paths, run="night", host="n7", target="/work")
    assert [one.run_id for one in done.runs] == ["night"]
    rows = runs.read(tmp_path / "store")
    assert ({row.target for row in rows}, {row.host for row in rows}) == ({"/work"}, {"n7"})


def test_broken_json_is_imported_and_named(tmp_path, capsys):
    text = made.as_json().replace('"Version": "4.1.0",', '"Version": "4.1.0"')
    (path,) = put(tmp_path, {"ior.json": text})
    code, _, err = told(capsys, "import", path, "--store", tmp_path / "store")
    assert code == 1
    assert "line 3: no JSON; assumed: a comma is missing" in err
    assert len(of(runs.read(tmp_path / "store"), op=None)) == 4


def test_secrets_are_not_in_the_store(tmp_path, capsys):
    root, found = tmp_path / "store", b""
    for version in made.VERSIONS:
        imported(root, put(tmp_path, {f"{version}.txt": made.log(version)}))
    for path in root.rglob("*"):
        found += path.read_bytes() if path.is_file() else b""
    assert made.SECRET.encode() not in found
    assert made.SECRET not in told(capsys, "runs", "--format", "csv", "--store", root)[1]


@pytest.mark.parametrize("seed", range(25))
def test_any_damage_to_any_file_leaves_others_whole(tmp_path, seed):
    rng = random.Random(seed)
    files = {name: text.encode() for name, text in made.ALL.items()}
    name = rng.choice([name for name in files if name != "ior.txt"])
    data = bytearray(files[name])
    for _ in range(rng.randrange(1, 8)):
        place = rng.randrange(len(data))
        junk = (b"\0", b"nan", b"\xff\xfe", b"9" * 99, b"", b"\r\n")
        data[place : place + rng.randrange(6)] = rng.choice(junk)
    if rng.random() < 0.5:
        del data[rng.randrange(1, len(data)) :]
    paths = []
    for other, content in files.items():
        (tmp_path / other).write_bytes(bytes(data) if other == name else content)
        paths.append(tmp_path / other)
    imported(tmp_path / "store", paths)
    rows = runs.read(tmp_path / "store", run_id="ior")
    assert of(rows, phase="write", op=None, rank=None)[0].bytes == 4 * GIB


@real_data
def test_real_results(tmp_path, capsys):
    root = tmp_path / "store"
    folders = [real("measuring/io500"), real("measuring/ior")]
    code, out, err = told(capsys, "import", *folders, "--store", root, "--zone", "UTC")
    assert code == 0, err
    rows = runs.read(root)
    (easy,) = of(rows, run_id="io500", phase="ior-easy-write", op=None, rank=None)
    assert (easy.bytes, easy.ops) == (GIB, 512)
    assert easy.tail_loss == pytest.approx(0.479, abs=0.002)
    # Of two ranks the mean is known: (97 + 256) / 2 operations in 2.0 s.
    assert easy.stonewall_per_s == pytest.approx(176.5)
    timed = of(rows, run_id="ior-vvv-F-D3-write", phase="write")
    (whole,) = of(timed, op=None, rank=None)
    assert (whole.bytes, whole.complete) == (452_984_832, False)
    assert [row.ops for row in of(timed, op="data_write") if row.rank is not None] == [218, 214]
    (op,) = of(timed, op="data_write", rank=None)
    assert op.q50_ns is not None
    assert "ior-op-wr: the read phase wrote over" in out


@real_data
def test_a_real_run_of_640_ranks(tmp_path, capsys):
    root = tmp_path / "store"
    places = sorted(path for path in (MEASURING / "data").iterdir() if "helios" in path.name)
    code, out, err = told(capsys, "import", *places, "--store", root, "--zone", "UTC")
    assert code == 0, err
    rows = runs.read(root, run_id="io500-helios-lustre-640ranks")
    (easy,) = of(rows, phase="ior-easy-write", op=None, rank=None)
    assert easy.bytes == 146_455_700_439_040
    said = easy.parameters["reported"]
    assert "latency-wrong" in said["flags"]
    # The score is bytes over time; the rate at the limit is that of result.txt, to the digits of the log.
    assert easy.last_bytes_per_s / GIB == pytest.approx(said["score"], rel=1e-4)
    assert easy.stonewall_per_s * 2 / 1024 == pytest.approx(403.55, rel=2e-3)
    assert 0.10 < easy.tail_loss < 0.16
    (read,) = of(rows, phase="ior-easy-read", op=None, rank=None)
    assert "ranks-equalised" in read.parameters["reported"]["flags"]
    assert len({row.rank for row in of(rows, phase="find")}) == 641
    assert "mdtest-easy-write 0: 125,699 ops/s until the time limit" in out


def test_the_page_has_every_kind_and_flag():
    page = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    part = page.partition("## IOR and IO500")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+-[a-z]+)` \|", part, flags=re.M) == list(FLAGS)
    assert re.findall(r"^\| `([a-z]+)` \|", part, flags=re.M) == [
        *("timers", "operations", "ranks", "stonewall")
    ]
    for words in ("text of IOR", "summary in JSON", "summary in CSV", "IOR's table of ranks"):
        assert words in page
    assert "operations of IOR" in page
    assert f"more than {DIFFERS:.0%}" in part
    assert f"| {COARSE:.0%}" in part
    assert f"below {summary._LEAST * 1e6:.0f} us" in part
