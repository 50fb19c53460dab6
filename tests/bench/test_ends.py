"""However a benchmark ends: what was measured is kept, and the tree is removed or can be."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.commands import ENVIRON, run
from tests.kit.runs.driven import (
    bench,
    by_op,
    counts,
    data_set,
    ended,
    impatient,
    left_in,
    pool,
    rows_of,
    started,
    until,
    until_it_stands,
    wait_for,
    whole,
)

LONG = ("-n", 2, "-D", 1, "-P", 60, "-I", 50, "-R", 2, "--fault", "stat:+50ms")
"""The benchmark phase takes five seconds."""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_once_is_a_clean_end(place, store, how):
    with started(place, *LONG, "--store", store) as process:
        until(process, '"benchmark"')
        process.send_signal(how)
        code, out, err = ended(process)
    assert code == 130
    assert "ending: removing what was made" in err
    assert "Traceback" not in err
    assert left_in(place) == []
    rows = rows_of(store)
    assert by_op(rows, "precreate") == {"md_create": 120}
    assert by_op(rows, "cleanup") == {"md_delete": 120}
    (row,) = whole(rows)
    assert (row.complete, row.failed) == (False, 0)
    assert 1 <= row.ops < 2 * 50 * 4
    assert row.ops % 4 == 0, "a step is done whole, so the pool is"
    assert "not complete" in out
    assert "cut" in out


def test_twice_leaves_the_tree(place, store):
    words = (*LONG, "--fault", "delete:+50ms", "--store", store)
    with started(place, *words) as process:
        until(process, '"benchmark"')
        process.send_signal(signal.SIGINT)
        until(process, "Ctrl-C again leaves it there")
        process.send_signal(signal.SIGINT)
        code, _, err = ended(process)
    assert code == 130
    assert "Traceback" not in err
    assert left_in(place) != []
    assert by_op(rows_of(store), "precreate") == {"md_create": 120}
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


def test_a_kept_tree_is_whole_after_an_end(place):
    words = (*LONG, "--phases", "precreate,benchmark", "--no-store")
    with started(place, *words) as process:
        until(process, '"benchmark"')
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130
    assert [len(pool(place, rank)) for rank in range(2)] == [60, 60]
    again = ("-n", 2, "-I", 5, "-R", 1, "--verify", "--phases", "benchmark,cleanup")
    assert bench(place, *again) == 0
    assert left_in(place) == []


def test_a_plan_ends_at_once(place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    with started(place, other, *LONG, "--no-store") as process:
        until(process, '"benchmark"')
        process.send_signal(signal.SIGINT)
        code, out, err = ended(process)
    assert code == 130
    assert str(other) not in out + err
    assert left_in(place) == left_in(other) == []


def test_what_a_killed_run_measured_is_readable(place, store, capsys):
    with started(place, *LONG, "--store", store) as process:
        until(process, '"benchmark"')
        wait_for(lambda: any(row.phase == "benchmark" for row in rows_of(store)))
        process.kill()
        assert ended(process)[0] == -signal.SIGKILL
    rows = rows_of(store)
    assert not any(row.complete for row in rows)
    assert by_op(rows, "precreate") == {"md_create": 120}
    assert {row.rank for row in rows if row.phase == "benchmark"} == {0, 1}
    (run_id,) = {row.run_id for row in rows}
    capsys.readouterr()
    assert run("runs", store=store) == 0
    assert "cut" in capsys.readouterr().out
    assert run("runs", run_id, store=store) == 0
    assert "not complete" in capsys.readouterr().out
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


def test_a_hundred_kills_leave_a_pool_of_the_same_size(tmp_path):
    driver = Path(__file__).parents[1] / "kit" / "runs" / "killed.py"
    words = [sys.executable, str(driver), str(tmp_path), "11", "100"]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRON, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    *each, last = map(json.loads, done.stdout.splitlines())
    assert last == {"survived": 100}
    assert {one["failures"] for one in each} == {0}
    assert {one["objects"] for one in each} == {360}
    assert any(one["notes"] for one in each), "some kill left something to repair"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (("--fault", "stat:hang:3s"), "hangs in stat for"),
        (("--fault", "read:hang"), "hangs in read for"),
    ],
    ids=["later", "at once"],
)
def test_a_rank_that_hangs_is_given_up(place, store, fault, said):
    words = (place, "-n", 2, "-D", 1, "-P", 60, "-I", 60, "-R", 10000, *fault, "--store", store)
    with started(arguments=impatient(*words)) as process:
        until_it_stands(process)
        process.send_signal(signal.SIGINT)
        code, _, err = ended(process)
    assert code == 130
    assert said in err
    assert "objects are left" in err
    assert by_op(rows_of(store), "precreate") == {"md_create": 120}
    assert 58 <= len(pool(place)) <= 61
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


@pytest.mark.parametrize("name", ["ENOSPC", "EDQUOT", "EACCES"])
def test_failures_end_a_rank_and_are_counted(place, store, capsys, name):
    words = ("-n", 2, "-D", 1, "-P", 40, "-I", 40, "-R", 1, "--max-errors", 5)
    assert bench(place, *words, "--fault", f"create:{name}", store=store) == 1
    err = capsys.readouterr().err
    words = os.strerror(getattr(errno, name))
    assert f"precreate: 10 creates ended with {name}: {words}" in err
    assert "2 of 2 ranks gave up: every operation failed" in err
    (made,) = whole(rows_of(store), "precreate")
    assert (made.ops, made.failed, made.outcomes) == (10, 10, {name: 10})
    assert not made.complete
    assert made.q50_ns is None
    assert left_in(place) == []


def test_a_cleanup_that_fails_says_what_is_left(place, store, capsys):
    words = ("-D", 1, "-P", 10, "-I", 5, "-R", 1)
    assert bench(place, *words, "--fault", "delete:EACCES", store=store) == 1
    assert "objects are left" in capsys.readouterr().err
    assert counts(rows_of(store))["cleanup", 0, "md_delete", None] == 15
    assert len(list(data_set(place).iterdir())) == 15
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []
