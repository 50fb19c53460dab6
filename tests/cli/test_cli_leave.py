"""Nothing stays that should not: mistyped probes, probes that ended, files of probes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from iosonde.weather.slowdown.answers import current
from tests.kit.commands import put, run
from tests.kit.samples.makers import SECOND, START, state, with_ops

DAY = 86_400 * SECOND
SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}

pytestmark = pytest.mark.usefixtures("utc", "now")


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_probe_of_a_mistyped_path_leaves_no_state(tmp_path, capsys):
    assert run("probe", str(tmp_path / "wrok"), store=tmp_path / "store") == 1
    assert "No such file or directory" in capsys.readouterr().err
    assert files(tmp_path / "store") == []
    assert run("check", store=tmp_path / "store") == 3
    assert "wrok" not in capsys.readouterr().out


def test_a_mistyped_path_beside_a_known_one_takes_no_state_away(tmp_path, capsys):
    put(tmp_path, known=state(target="/known"))
    before = files(tmp_path)
    assert run("probe", str(tmp_path / "wrok"), store=tmp_path) == 1
    capsys.readouterr()
    assert files(tmp_path) == before


def test_a_stopped_probe_masks_no_live_one(tmp_path, capsys):
    """A user's probe of /work on another host that was stopped, beside the agent's."""
    put(
        tmp_path,
        agent=state(host="login2"),
        user=state(host="login9", running=False),
        other=state(host="login9", target="/tmp", path="/tmp", running=False),
    )
    assert run("check", store=tmp_path) == 0
    assert run("check", "/work", store=tmp_path) == 0
    capsys.readouterr()
    assert run("now", store=tmp_path) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "/work" in line]
    assert line.endswith("from login2)")
    assert "/tmp has no probe since" in out


def test_a_stopped_probe_is_news_for_a_day(tmp_path, capsys):
    put(
        tmp_path,
        live=state(),
        gone=state(target="/old", path="/old", running=False, written_ns=START - 2 * DAY),
    )
    assert run("now", store=tmp_path) == 0
    assert "/old" not in capsys.readouterr().out
    assert run("now", "/old", store=tmp_path) == 0
    assert "/old has no probe since" in capsys.readouterr().out


def test_the_page_shows_an_old_target_that_has_samples_and_hides_one_that_another_watches():
    old = state(target="/old", path="/old", running=False, written_ns=START - 2 * DAY)
    masked = state(host="login9", running=False)
    every = [state(), old, masked]
    assert current(every, START) == [every[0]]
    kept = {("login2", "/old"), ("login9", "/work")}
    assert current(every, START, kept) == every[:2]


def test_a_probe_that_crashed_stays_unknown(tmp_path, capsys):
    """Nobody stopped it: a monitoring system must hear of that."""
    put(tmp_path, live=state(), crashed=state(target="/b", path="/b", written_ns=START - 2 * DAY))
    assert run("check", store=tmp_path) == 3
    assert "no news of /b" in capsys.readouterr().out


def test_forget_removes_state_and_baselines_of_what_does_not_run(tmp_path, capsys):
    put(
        tmp_path,
        live=state(),
        gone=state(target="/old", path="/old", running=False),
    )
    baselines = tmp_path / "baselines" / "login2"
    baselines.mkdir(parents=True)
    for name in ("gone.1000ms.baseline", "gone-too.1000ms.baseline", "live.1000ms.baseline"):
        (baselines / name).write_text("")
    assert run("store", "forget", "/work", store=tmp_path) == 2
    assert "/work is being probed on login2" in capsys.readouterr().err
    assert run("store", "forget", "/old", store=tmp_path) == 0
    assert capsys.readouterr().out == "forgot /old of login2\n"
    assert [Path(name).name for name in files(tmp_path)] == [
        "gone-too.1000ms.baseline",
        "live.1000ms.baseline",
        "live.json",
    ]
    assert run("store", "forget", "/old", store=tmp_path) == 2


def test_the_worst_is_first_and_not_knowing_is_not_the_worst(tmp_path, capsys):
    put(
        tmp_path,
        a=state(target="/a", path="/a", written_ns=START - 600 * SECOND),
        b=with_ops(data_read=SLOW) | {"target": "/b", "path": "/b"},
        c=state(target="/c", path="/c"),
    )
    assert run("now", store=tmp_path) == 0
    *lines, summary = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].split()[0] for line in lines] == ["slow", "unknown", "ok"]
    assert summary == "3 targets: 1 slow, 1 unknown, 1 as usual"


def test_clean_removes_marked_directories_only(tmp_path, capsys):
    own = tmp_path / f".iosonde-{os.geteuid()}"
    for name, mark in (("login2", "iosonde probe directory, format 1"), ("mine", "notes")):
        (own / name).mkdir(parents=True)
        (own / name / "MARK").write_text(f"{mark}\n")
        (own / name / "data").write_bytes(b"x" * 2048)
    assert run("store", "clean", str(tmp_path), "-n") == 0
    assert capsys.readouterr().out == f"unused {own}/login2: 1 file, 2.00 KiB\n"
    assert run("store", "clean", str(tmp_path), "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["directories"]
    assert (found["removed"], found["bytes"]) == (True, 2048)
    assert files(tmp_path) == [f"{own.name}/mine/MARK", f"{own.name}/mine/data"]
    assert run("store", "clean", str(tmp_path)) == 0
    assert "nothing of iosonde" in capsys.readouterr().err
    assert run("store", "clean", str(tmp_path / "none")) == 1
    assert "cannot open" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["figure", "timline"], "there is no 'timline'; expected one of points"),
        (["figure", "timline"], "try 'timeline'"),
        (["export", "sample"], "try 'samples'"),
        (["slowdown", "--windw", "60s"], "try --window, or"),
        (["now", "--targt"], "unrecognized arguments: --targt; try 'iosonde now --help'"),
        (["why", "--job", "4711"], "--job; try 'iosonde explain JOB', or 'iosonde why --help'"),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest_right_one(capsys, arguments, hint):
    assert run(*arguments) == 2
    assert hint in capsys.readouterr().err
