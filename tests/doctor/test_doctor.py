"""The doctor's command, and his one list of checks."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest

import iosonde
from iosonde.doctor.checks import CHECKS
from iosonde.doctor.examine import choose
from iosonde.doctor.finding import size
from iosonde.doctor.gather.target import gather_target
from iosonde.host import child as expendable
from iosonde.model.names import slug
from tests.kit.commands import put, run
from tests.kit.host.doctor_makers import state


def test_by_default_the_targets_of_this_host_are_examined():
    states = [
        state(target="work"),
        state(host="login3", target="work"),
        state(host="login3", target="/x", path="/x"),
    ]
    (target,) = choose(states, [], "login2")
    assert (target.name, target.path, len(target.own), len(target.others)) == (
        "work (/work)",
        "/work",
        1,
        1,
    )
    assert [t.path for t in choose(states, [], "nobody")] == ["/work", "/x"]
    assert [t.name for t in choose(states, ["work", "/a/../b"], "login2")] == ["work (/work)", "/b"]


def test_servers_of_one_path_are_examined_one_by_one():
    def part(name, kind, path="/work", **changed):
        component = {"name": name, "of": "work", "kind": kind, "index": 1 if kind else None}
        return state(target=f"work/{name}", path=path, component=component, **changed)

    states = [
        part("OST1", "ost"),
        part("M 1", "mdt"),
        part("d", None, "/work/d"),
        part("OST1", "ost", host="login3"),
    ]
    found = {
        t.folder: (t.name, t.path, len(t.own), len(t.others)) for t in choose(states, [], "a b")
    }
    assert len(found) == 3  # of nobody: those of every host
    found = {
        t.folder: (t.name, t.path, len(t.own), len(t.others)) for t in choose(states, [], "login2")
    }
    assert found == {
        "login2@OST1": ("work/OST1 (/work)", "/work", 1, 1),
        f"login2@{slug('M 1')}": ("work/M 1 (/work)", "/work", 1, 1),
        "login2": ("work/d (/work/d)", "/work/d", 1, 0),
    }
    for words, folders in (
        (["work"], 3),
        (["/work"], 2),
        (["work/OST1"], 1),
        (["/work/../work"], 2),
    ):
        assert len(choose(states, words, "login2")) == folders


def test_places_of_other_servers_on_this_host_are_nobody_elses(tmp_path):
    for name in ("login2@OST1", "login2@OST2", "login2", "login22", "login3@OST1"):
        (tmp_path / ".iosonde-0" / name).mkdir(parents=True)
    asked = partial(gather_target, str(tmp_path), "login2@OST1", "login2")
    facts = expendable.ask(asked, 30).facts
    assert [Path(place["path"]).name for place in facts["own"]] == ["login2@OST1"]
    assert [place["host"] for place in facts["others"]] == ["login22", "login3@OST1"]


def test_the_command_finds_a_directory_that_is_not_there(tmp_path, capsys):
    code = run("doctor", str(tmp_path / "gone"), "--agent", "127.0.0.1:1", store=tmp_path)
    out = capsys.readouterr().out
    assert code == 1
    assert "there is no such directory (ENOENT)" in out
    assert "1 problem" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--timeout", "0s"], "too short to tell a hang; expected at least 100ms"),
        (["--agent", "here"], "'here' is no address; expected HOST:PORT"),
        (["--agent", "here:99999"], "is no address"),
        ([""], "an empty name is no target"),
    ],
)
def test_wrong_requests_are_refused(arguments, says, tmp_path, capsys):
    assert run("doctor", *arguments, store=tmp_path) == 2
    assert says in capsys.readouterr().err


def test_json_holds_every_finding_with_its_numbers(tmp_path, capsys):
    put(tmp_path, work=json.loads(json.dumps(state(schema_version=1, path=str(tmp_path)))))
    options = ("--agent", "127.0.0.1:1", "--host", "login2", "--format", "json")
    run("doctor", *options, store=tmp_path)
    findings = json.loads(capsys.readouterr().out)["findings"]
    keys = ["id", "subject", "level", "says", "found", "why", "advice"]
    assert all(list(finding) == keys for finding in findings)
    assert all((f["advice"] is None) == (f["level"] == "ok") for f in findings)
    by_id = {finding["id"]: finding for finding in findings}
    assert by_id["store-apart"]["level"] == "problem"
    assert by_id["place-covered"]["level"] == "problem"


def test_names_from_a_target_cannot_reach_the_terminal(tmp_path, capsys):
    (tmp_path / ".iosonde-0" / "evil\x1b[31mhost").mkdir(parents=True)
    run("doctor", str(tmp_path), "--agent", "127.0.0.1:1", store=tmp_path / "store")
    assert "\x1b" not in capsys.readouterr().out


def test_strange_things_in_a_place_are_refused_not_followed(tmp_path, capsys):
    own = tmp_path / f".iosonde-{os.geteuid()}" / slug("login2")
    own.mkdir(parents=True)
    (own / "MARK").symlink_to("/etc/passwd")
    os.mkfifo(own / "data")
    arguments = ("--agent", "127.0.0.1:1", "--host", "login2", "--format", "json")
    run("doctor", str(tmp_path), *arguments, store=tmp_path / "store")
    findings = {f["id"]: f for f in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["target-answers"]["level"] == "ok"
    assert findings["place-present"]["level"] == "note"


def test_sizes_for_people():
    assert [size(n) for n in (0, 1023, 1024, 10 << 20, 3 << 40)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "10 MiB",
        "3 TiB",
    ]


def test_every_check_is_made_somewhere_and_documented():
    folder = Path(iosonde.__file__).parent / "doctor"
    source = "".join(file.read_text() for file in (folder / "judge").glob("*.py"))
    source += (folder / "examine.py").read_text()
    made = set(re.findall(r'found\.add\(\s*"([a-z-]+)"', source))
    assert made == set(CHECKS)
    page = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| (.*?) \|$", page, flags=re.M)
    assert rows == [(id, check.looks_at, check.why) for id, check in CHECKS.items()]
