"""What an IO500 run leaves behind: result, summary, configuration, find."""

from __future__ import annotations

import random
from datetime import UTC

import pytest

from iosonde.connectors.benchmarks.io500 import rows as io500_rows
from iosonde.connectors.benchmarks.io500.find import read_find
from iosonde.connectors.benchmarks.io500.found import Io500, Io500Phase
from iosonde.connectors.benchmarks.io500.result import read_config, read_result, read_summary
from iosonde.connectors.lines import FileDefaults
from tests.kit.records import ior_made as made
from tests.kit.records.ior_made import BEGAN, GIB, MIB
from tests.kit.samples.makers import SECOND

GIVEN = FileDefaults("run", zone=UTC)


def read(reader, folder, content, told=None):
    path = folder / "x"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    errors = [] if told is None else told
    found = reader(path, errors.append)
    assert told is not None or errors == []
    return found


def rows_of(run):
    phases = [run.phases[name] for name in run.phases if name != "timestamp"]
    rows = [row for phase in phases for row in io500_rows.phase_rows(run, phase, GIVEN, "run")]
    return {(row.phase, row.op): row for row in rows}


def test_result(tmp_path):
    run = read(read_result, tmp_path, made.RESULT)
    assert (run.procs, run.version, run.mode) == (4, "v9", "standard")
    assert run.invalid == ["stonewall-time 5s != 300s"]
    rows = rows_of(run)
    write = rows["ior-easy-write", None]
    assert (write.source, write.instrument, write.pattern) == ("io500", "bandwidth", "own")
    assert (write.target, write.ranks, write.complete) == ("/made/data", 4, True)
    assert (write.began_ns, write.duration_ns) == (BEGAN * SECOND, 20_100_000_000)
    assert write.bytes is None  # a result does not say
    assert write.rate_per_s == pytest.approx(0.2 * GIB / (4 * MIB))
    assert write.stonewall_per_s == pytest.approx(0.3 * GIB / (4 * MIB))
    said = write.parameters["reported"]
    assert write.last_bytes_per_s == 0.2 * GIB
    assert said["invalid"] == ["Runtime is smaller than expected minimum runtime"]
    assert write.parameters["transfer_bytes"] == 4 * MIB
    create = rows["mdtest-easy-write", "md_create"]
    assert (create.instrument, create.pattern, create.rate_per_s) == ("metadata", "bulk", 5000)
    assert rows["mdtest-easy-write", None].stonewall_per_s == 6000
    assert rows["find", None].ops == 26003
    assert not rows["ior-easy-read", None].complete  # it has no t_end


def test_scores_and_what_makes_them_invalid(tmp_path):
    run = read(read_result, tmp_path, made.RESULT)
    (row,) = io500_rows.score_rows(run, GIVEN, "run")
    said = row.parameters["reported"]
    assert (row.phase, said["score"], said["bw_gib_per_s"], said["md_kiops"]) == (
        *("score", 2.44949, 0.282843),
        21.213203,
    )
    assert said["invalid"] == [
        "stonewall-time 5s != 300s",
        "ior-easy-write: Runtime is smaller than expected minimum runtime",
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_a_result_and_its_summary_say_it_once(tmp_path, order):
    both = [read(read_result, tmp_path, made.RESULT), read(read_summary, tmp_path, made.SUMMARY)]
    run = Io500()
    for one in both[::order]:
        run.join(one)
    phase = run.phases["ior-easy-write"]
    assert phase.invalid.count("Runtime is smaller than expected minimum runtime") == 1
    assert phase.seconds == pytest.approx(20.1)
    assert run.scores["SCORE"]["invalid"] is True
    assert "timestamp" in run.phases or order


def test_summary(tmp_path):
    run = read(read_summary, tmp_path, made.SUMMARY)
    assert list(run.phases) == ["ior-easy-write", "mdtest-easy-write", "find"]
    assert len(run.phases["ior-easy-write"].invalid) == 2
    assert run.phases["mdtest-easy-write"].invalid == []
    marked = made.SUMMARY.replace("ERROR", "NOTE")
    assert read(read_summary, tmp_path, marked).phases["ior-easy-write"].invalid == ["INVALID"]


def test_summary_of_2018(tmp_path):
    run = read(read_summary, tmp_path, made.SUMMARY_2018)
    easy, mdtest = run.phases["ior-easy-write"], run.phases["mdtest-easy-write"]
    assert (easy.score, easy.unit, easy.seconds, easy.invalid) == (21.35, "GiB/s", 301.95, [])
    assert (mdtest.unit, mdtest.invalid) == ("kIOPS", ["INVALID"])
    assert run.scores["SCORE"] == {
        **{"bw_gib_per_s": 5.1, "md_kiops": 43.1, "score": 14.8, "invalid": True}
    }


@pytest.mark.parametrize(
    ("name", "score", "wall", "wanted"),
    [
        ("ior-easy-write", 2.0, 2.4, (2.4, False)),
        ("ior-easy-write", 2.0, 2457.6, (2.4, True)),
        ("mdtest-easy-write", 5.0, 6.0, (6.0, False)),
        ("mdtest-easy-write", 5.0, 6000.0, (6.0, True)),
        ("ior-easy-write", 2.0, None, (None, False)),
    ],
)
def test_the_unit_of_the_rate_at_the_limit_changed(name, score, wall, wanted):
    phase = Io500Phase(name, score=score, stonewall=wall)
    assert io500_rows.stonewall_of(phase) == pytest.approx(wanted)
    flags = io500_rows.said(phase).get("flags")
    assert flags == (["stonewall-unit"] if wanted[1] else None)


def test_config_keeps_what_changes_a_measurement(tmp_path):
    run = read(read_config, tmp_path, made.CONFIG)
    assert run.options == {"api": "POSIX", "drop_caches": False, "stonewall_s": 5}


def test_find(tmp_path):
    table = read(read_find, tmp_path, made.FIND)
    run = read(read_result, tmp_path, made.RESULT)
    whole, *ranks = io500_rows.find_rows(run, "find", table, GIVEN, "run")
    assert (whole.ops, whole.failed, whole.duration_ns) == (26003, 1, 2 * SECOND)
    assert whole.rate_per_s == 13001.5
    assert whole.parameters["reported"]["found"] == 178
    assert [(row.rank, row.ops) for row in ranks] == [(0, 20000), (1, 6003)]


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_end_in_values_and_messages(tmp_path, seed):
    rng = random.Random(seed)
    reader, content = rng.choice(
        [(read_result, made.RESULT), (read_summary, made.SUMMARY), (read_config, made.CONFIG)]
    )
    data = bytearray(content.encode())
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(data))
        junk = (b"\0", b"nan", b"9" * 400, b"1e999", b"\xff", b"\r", b"[", b"]", b"-")
        data[place : place + rng.randrange(4)] = rng.choice(junk)
    if seed % 2:
        del data[rng.randrange(len(data)) :]
    told = []
    run = read(reader, tmp_path, bytes(data), told)
    rows_of(run)
    list(io500_rows.score_rows(run, GIVEN, "run"))
    assert all("line " in str(error) for error in told)


def test_a_cut_loses_no_phase_before_it(tmp_path):
    cut = made.RESULT.index("[find]") + 30
    run = read(read_result, tmp_path, made.RESULT[:cut], [])
    assert rows_of(run)["mdtest-easy-write", None].complete
    assert not rows_of(run)["find", None].complete
