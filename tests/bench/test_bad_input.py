"""What a benchmark cannot be asked for: one line, exit code 2, nothing touched."""

import shlex

import pytest

from tests.kit.commands import run
from tests.kit.runs.driven import SMALL, bench, command, ended, left_in, started

WRONG = [
    ("-n", "0"),
    ("-n", "1,x"),
    ("-n", "999999999999"),
    ("-n", ""),
    ("-D", "0"),
    ("-D", "5000000000"),
    ("-P", "-3"),
    ("-I", "1.5"),
    ("-S", "2T"),
    ("-S", "many"),
    ("-S", "-1"),
    ("-O", "-1"),
    ("-O", "99999999999"),
    ("-R", "0"),
    ("-T", "-1"),
    ("-T", "1/0"),
    ("-T", "often"),
    ("-T", "2000"),
    ("-w", "0s"),
    ("-w", "soon"),
    ("-W", "5s"),
    ("-w", "5s", "-W", "1s"),
    ("--pattern", "spiral"),
    ("--shared",),
    ("--pattern", "bulk", "--read-only"),
    ("--pattern", "bulk", "--one-by-one"),
    ("--pattern", "bulk", "-T", "1"),
    ("--pattern", "bulk", "--adaptive"),
    ("--pattern", "bulk", "--phases", "benchmark"),
    ("--phases", "lunch"),
    ("--phases", ","),
    ("--phases", "benchmark"),
    ("--phases", "cleanup", "--keep"),
    ("--adaptive", "-T", "1"),
    ("--adaptive", "-R", "2"),
    ("--adaptive", "--phases", "precreate"),
    ("--measurements", "3"),
    ("--order", "alphabetical"),
    ("--order", "random", "-P", "10", "-I", "10"),
    ("-n", "2", "-P", "10", "-I", "11"),
    ("--one-by-one", "-P", "10", "-I", "11"),
    ("-I", "1,2,3", "-P", "4,5"),
    ("-n", "1,2,3,4,5,6,7,8,9,10,11", "-D", "1,2,3,4,5,6,7,8,9,10", "-P", "1,2,3,4,5,6,7,8,9,10"),
    ("-D", "1000000", "-P", "1000000000", "-n", "2000"),
    ("--fault", "create"),
    ("--fault", "create:EFOO"),
    ("--fault", "explode:EIO"),
    ("--fault", "stat:EIO:soon"),
    ("--fault", "stat:EIO:1s:1s:1s"),
    ("--fault", "stat:x-1"),
    ("--max-errors", "0"),
    ("--seed", "dice"),
    ("--direct", "-S", "3901"),
    ("--endpoint", "http://127.0.0.1:1"),
    ("--dark",),
    ("--plot", "/nowhere/at/all.png"),
    ("--plot", "picture.doc"),
    ("-o", "/nowhere/at/all.csv"),
    ("-o", "/"),
    ("-o", "rows.doc"),
    ("-o", "rows.csv", "--format", "table"),
    ("--format", "parquet"),
    ("--format", "xml"),
    ("--frobnicate",),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_request_is_one_line(place, store, capsys, words):
    assert bench(place, *words, store=store) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    (line,) = seen.err.splitlines()
    assert line.startswith("iosonde: ")
    assert left_in(place) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null:here",
        "s3:",
        "s3://a",
        "s3://UPPER/x",
        "mpiio:",
        "postgresql:",
        "mongodb:",
        "nfs:/x",
    ],
)
def test_a_place_that_is_none_is_one_line(capsys, monkeypatch, text):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert bench(text) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("iosonde: ")
    assert "expected" in line or "takes nothing" in line


@pytest.mark.parametrize("words", [("--verify",), ("--fsync",), ("--direct", "-S", "4096")])
def test_what_a_backend_cannot_do_is_said(capsys, words):
    assert bench("null:", *words) == 2
    assert capsys.readouterr().err.startswith("iosonde: null: ")


def test_a_place_that_cannot_be_used_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nothing")
    for path in ("/proc", "/sys", tmp_path / "missing", tmp_path / "file", dangling):
        assert bench(path, *SMALL) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"iosonde: {path}"), line


def test_a_store_that_cannot_be_written_is_said_before_anything_is_made(place, tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert run("bench", "metadata", str(place), *SMALL, store=file) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot write in the store" in line
    assert "--no-store" in line
    assert left_in(place) == []


def test_without_words_it_helps(capsys):
    assert run("bench") == 2
    assert "iosonde bench metadata --help" in capsys.readouterr().out
    assert run("bench", "--help") == 0
    assert run("bench", "metadata") == 2
    assert "PLACE" in capsys.readouterr().err
    assert run("bench", "metadta", "/work") == 2
    assert "there is no benchmark 'metadta'" in capsys.readouterr().err
    assert run("bench", "/") == 2
    assert "iosonde bench metadata /" in capsys.readouterr().err
    assert run("bench", "metadata", "--help") == 0
    assert "mpirun -n 64" in capsys.readouterr().out


def test_too_many_ranks_are_one_line(place):
    """Threads that find no room for their stacks."""
    words = shlex.join(command(place, *SMALL, "-n", 4000, "--no-store"))
    arguments = ["sh", "-c", f"ulimit -v 4000000; exec {words}"]
    with started(arguments=arguments, environ={"OPENBLAS_NUM_THREADS": "1"}) as process:
        code, out, err = ended(process)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert "4000 ranks cannot be started in one process" in line
    assert left_in(place) == []
