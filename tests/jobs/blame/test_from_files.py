"""The whole path: a generated day as collectl files, sacct and a probe's samples, imported, and who is named."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

import iosonde
from benchmarks.truth.load.as_files import HOG, HOG_NODES, TARGET, hog_event, write_files
from benchmarks.truth.load.week import Cluster
from iosonde.cli.main import main

CLUSTER = Cluster(exclusive=6, shared=3, jobs=120, days=0.8)


def made(folder, *, hog, seed=3):
    event = hog_event(seed, hog=hog, cluster=CLUSTER)
    *records, samples = map(str, write_files(event, folder / "files"))
    store = str(folder / "store")
    assert main(["import", *records, "--store", store]) == 0
    assert main(["import", samples, "--target", TARGET, "--store", store]) == 0
    return event, store


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    return made(tmp_path_factory.mktemp("hog"), hog=True)


@pytest.fixture(scope="module")
def fault(tmp_path_factory):
    return made(tmp_path_factory.mktemp("fault"), hog=False)


def at(event, share=0.5):
    instant = event.begin_ns + share * (event.end_ns - event.begin_ns)
    return datetime.fromtimestamp(instant / 1e9, UTC).isoformat()


def asked(capsys, store, *words):
    capsys.readouterr()
    assert main(["blame", *words, "--store", store, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_hog_is_named(day, capsys):
    event, store = day
    found = asked(capsys, store, TARGET, "--at", at(event))
    first = found["ranked"][0]
    assert found["verdict"].startswith(f"job {HOG} caused most of it: ")
    assert first["who"] == HOG
    assert first["user"] == "mallory"
    assert first["name"] == "many|small reads"
    assert first["nodes"] == 4
    assert first["ops"] == pytest.approx(event.ops[:, :].sum(), rel=0.15)
    assert first["slowdown"]["lower"] > 0.5
    assert found["interval"]["op"] == "data_read"
    assert abs(found["interval"]["begin_ns"] - event.begin_ns) < 300e9
    assert found["records"]["sources"] == ["collectl"]
    again = asked(capsys, store, found["interval"]["event"])
    assert again["ranked"][0]["who"] == HOG


def test_its_user_account_and_nodes_are_found_too(day, capsys):
    event, store = day
    user = asked(capsys, store, TARGET, "--at", at(event), "--by", "user")
    assert user["verdict"].startswith("user mallory caused most of it")
    nodes = asked(capsys, store, TARGET, "--at", at(event), "--by", "node")
    assert {one["who"] for one in nodes["ranked"][:4]} == set(HOG_NODES)


def test_a_table_and_a_sentence_are_printed(day, capsys):
    event, store = day
    capsys.readouterr()
    assert main(["blame", TARGET, "--at", at(event), "--store", store, "--top", "3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"job {HOG} caused most of it: ")
    assert "operations per second were recorded, reads on /work were" in " ".join(text.split())
    assert len([line for line in text.splitlines() if "mallory" in line]) == 1


def test_moments_of_a_band_belong_to_few(day, capsys):
    event, store = day
    since, until = at(event, -0.5), at(event, 1.5)
    found = asked(capsys, store, "--since", since, "--until", until, "--band", "5k:")["band"]
    assert found["nodes_each"]["most"] <= 4
    assert found["jobs_each"] == {"middle": 1.0, "least": 1, "most": 1}
    assert found["few"] == 1.0
    assert found["jobs"]["of"] == [HOG]
    assert found["moments"] == pytest.approx((event.end_ns - event.begin_ns) / 30e9, abs=2)


def test_a_fault_is_nobodys(fault, capsys):
    event, store = fault
    found = asked(capsys, store, TARGET, "--at", at(event))
    assert found["interval"]["slowdown"] > 2
    assert found["verdict"].startswith("no job explains it; ")


def test_a_notebook_gets_the_same(day):
    event, store = day
    answer = iosonde.open(store).blame(TARGET, at=at(event))
    assert answer.lines[0].startswith(f"job {HOG} caused most of it: ")
    columns = answer.columns
    assert columns["who"][0] == HOG
    assert columns["slowdown_share"][0] > 0.5
    assert columns["ops"].dtype.kind == "f"


def test_without_records_jobs_are_active_at_the_time(tmp_path, capsys):
    """Only sacct and a probe: the hog is among the first five, and nobody is accused."""
    event = hog_event(3, cluster=CLUSTER)
    *_, sacct, samples = map(str, write_files(event, tmp_path / "files"))
    store = str(tmp_path / "store")
    assert main(["import", sacct, "--store", store]) == 0
    assert main(["import", samples, "--target", TARGET, "--store", store]) == 0
    found = asked(capsys, store, TARGET, "--at", at(event))
    assert found["basis"] == "begin and end of jobs"
    assert HOG in [one["who"] for one in found["ranked"]]
    assert {one["confidence"] for one in found["ranked"]} == {"active at the time"}
    assert "nobody can be named without records of operations" in found["verdict"]
    assert main(["blame", TARGET, "--at", at(event), "--by", "user", "--store", store]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("users ")
    assert "no operations of nodes or jobs" in printed.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["/scratch"], "/scratch is no target and no event's id; expected one of /work"),
        ([TARGET], "was not slow in the last 7 days"),
        (["--since", "-1h"], "no operations of nodes or jobs"),
        (["--until", "-1h"], "--until without --since"),
        (["--at", "2026-09-01T12:00Z", "--since", "-1h"], "two questions"),
        (["--since", "-1h", "--band", "9k:2k"], "'9k:2k' is no band"),
        (["--since", "-1h", "--top", "0"], "--top 0 shows nothing"),
        (["login1:/work:slow-1788255660000000000x"], "is no target and no event's id"),
        (["login1:/work:hang-1788255660000000000"], "there is no event"),
    ],
)
def test_bad_questions_are_errors_with_advice(day, capsys, words, error):
    _, store = day
    capsys.readouterr()
    assert main(["blame", *words, "--store", store]) in (1, 2)
    said = capsys.readouterr().err
    assert error in said
    assert "Traceback" not in said


def test_an_empty_store_says_what_is_needed(tmp_path, capsys):
    assert main(["blame", "--store", str(tmp_path)]) == 1
    assert "so no slow event is known; expected an interval" in capsys.readouterr().err
    assert main(["blame", "--since", "-1h", "--store", str(tmp_path)]) == 1
    assert "try 'iosonde import FILE'" in capsys.readouterr().err
