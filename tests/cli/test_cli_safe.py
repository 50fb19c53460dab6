"""What is printed for a terminal, what a spreadsheet opens, who may read a store."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.bench.runs import store as runs
from iosonde.cli.shared.terminal import safe
from iosonde.doctor.gather.store import gather_store
from iosonde.engine.atomic import draft_of, make_folder, permitted
from iosonde.engine.files import csv_text, write_frame
from iosonde.engine.states import read_states
from iosonde.model.frames import Frame
from iosonde.weather.seal import seal
from tests.kit.commands import run
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import START, simulated

import numpy as np  # isort: skip

EVIL = "/work\x1b]0;owned\x07\x1b[8m\u202egnp"


def modes(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): f"{path.stat().st_mode & 0o777:o}" for path in root.rglob("*")
    }


@pytest.mark.parametrize("command", ["slowdown", "events", "now", "report"])
def test_names_of_targets_reach_no_terminal_as_they_are(tmp_path, capfd, utc, command):
    target = {"path": "/work", "name": EVIL, "backend": "null"}
    simulated(tmp_path, 900, target=[target])
    more = {"events": ["--since", "2026-09-01"], "report": ["-o", str(tmp_path / "r.html")]}
    run(command, *more.get(command, []), store=tmp_path)
    said = "".join(capfd.readouterr())
    assert said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_colours_of_ours_pass_on_a_terminal_only():
    assert safe("\x1b[31;1mhung\x1b[0m", coloured=True) == "\x1b[31;1mhung\x1b[0m"
    assert safe("\x1b[31;1mhung\x1b[0m") == "␛[31;1mhung␛[0m"
    assert safe("\x1b[8mhidden", coloured=True) == "␛[8mhidden"
    assert safe("10\u202f800 µs, tab\there\n") == "10\u202f800 µs, tab\there\n"


def evil_jobs(path: Path) -> list[str]:
    """A table of 14 runs whose names hold escapes, and how it is given to a command."""
    name = "vpic\x1b]0;owned\x07\x1b[31m\u202egnp"
    rows = [
        f"4711\x1b[2J{row},{at},{at + 100},{name},fs\x1b[31m,{5e9 / (1 + row % 5)},{row % 5}"
        for row, at in enumerate(range(1790000000, 1790000000 + 14 * 86400, 86400))
    ]
    path.write_text("job_id,start,end,app,fs,rate,others\n" + "\n".join(rows) + "\n")
    mapping = path.with_suffix(".toml")
    mapping.write_text(
        '[table]\nname = "runs"\n[job]\njob_id = "job_id"\nfile_system = "fs"\n'
        'begin = { column = "start", unit = "s" }\nend = { column = "end", unit = "s" }\n'
        '[[motif]]\ncolumn = "app"\n[metrics]\n'
        'performance_bytes_per_s = { column = "rate", unit = "bytes/s" }\n'
        'concurrent_jobs = "others"\n'
    )
    return [str(path), "--mapping", str(mapping)]


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "--job", "4711\x1b[2J13"],
        ["explain", "--diagram", "--job", "4711\x1b[2J13"],
        ["explain", "--job", "4711\x1b[2J"],
        ["jobs"],
        ["correlate"],
        ["climate"],
        ["import"],
    ],
)
def test_names_of_jobs_reach_no_terminal_as_they_are(tmp_path, capfd, utc, command):
    given = evil_jobs(tmp_path / "jobs.csv")
    store = tmp_path / "store" if command[0] == "import" else None
    run(command[0], *given, *command[1:], store=store)
    said = "".join(capfd.readouterr())
    assert said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals")
def test_a_terminal_gets_no_colour_of_a_name(tmp_path):
    """Our own colours pass on a terminal, those in names do not."""
    given = evil_jobs(tmp_path / "jobs.csv")
    main, child = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    arguments = ["explain", *given, "--job", "4711\x1b[2J13"]
    code = "import sys; from iosonde.cli.main import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=child,
        stderr=child,
        env=environment | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(child)
    said = b""
    with suppress(OSError):  # EIO: the process has ended
        while piece := os.read(main, 65536):
            said += piece
    os.close(main)
    assert process.wait() == 0
    assert b"\x1b[0m" in said
    for line in said.decode().splitlines():
        assert "\x1b[31m" not in line or "vpic" not in line
        assert "\x1b]" not in line
    assert "␛[31m" in said.decode()


FORMULAS = [
    *("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx"),
    *(" =1", " \t=1", "\u00a0=1", "\ufeff=1", "\u200b@SUM(A1)"),
    *("\uff1d1+1", " \uff1d1", "\uff0b1+1", "\uff0d2+3", "\uff20SUM(A1)", "\ufe66" + "1"),
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(tmp_path, text):
    path = tmp_path / "t.csv"
    write_frame(Frame({"name": np.array([text, "plain"], dtype=object)}), path, "csv")
    with path.open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["'" + text, "plain"]
    (row,) = csv.DictReader(io.StringIO(csv_text([{"name": text}], ["name"])))
    assert row["name"] == "'" + text


def test_numbers_stay_numbers(tmp_path):
    path = tmp_path / "t.csv"
    texts = np.array(["-1.5", "+2e-3", "-"], dtype=object)
    write_frame(Frame({"n": np.array([-1.5, -2.0, 3.0]), "text": texts}), path, "csv")
    assert path.read_text() == "n,text\n-1.5,-1.5\n-2.0,+2e-3\n3.0,'-\n"
    assert csv_text([{"n": -1.5, "t": "-3"}], ["n", "t"]) == "n,t\n-1.5,-3\n"


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o000])
def test_a_store_is_for_its_owner_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        table = tmp_path / "t.csv"
        table.write_text(
            "job_id,start,end,user,performance_bytes_per_s\n1,1790000000,1790000100,u,5e9\n"
        )
        mapping = tmp_path / "m.toml"
        mapping.write_text(
            '[table]\nname = "runs"\n[job]\njob_id = "job_id"\n'
            'begin = { column = "start", unit = "s" }\nend = { column = "end", unit = "s" }\n'
            '[metrics]\nperformance_bytes_per_s = { column = "performance_bytes_per_s", unit = "bytes/s" }\n'
        )
        store = tmp_path / "new" / "store"
        assert run("import", str(table), "--mapping", str(mapping), store=store) == 0
    finally:
        os.umask(before)
    assert store.stat().st_mode & 0o777 == 0o700
    found = modes(store)
    assert any(name.startswith("jobs/") and name.endswith(".parquet") for name in found)
    assert set(found.values()) <= {"700", "600"}, found


def _probed(store):
    """By the agent's writer."""
    simulated(store, 900)


def _measured(store):
    runs.append_part(store, "r", 0, benchmark("r"))
    assert runs.finish(store, "r", START)


def _sealed(store):
    """To another folder."""
    simulated(store.with_name("own"), 900)
    seal(store.with_name("own"))
    assert run("store", "seal", "--to", str(store), store=store.with_name("own")) == 0


@pytest.mark.parametrize("make", [_probed, _measured, _sealed])
def test_whoever_makes_a_store_makes_it_for_its_owner(tmp_path, make):
    before = os.umask(0)
    try:
        make(tmp_path / "store")
    finally:
        os.umask(before)
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    assert {
        mode for name, mode in modes(tmp_path / "store").items() if name.startswith("runs/")
    } <= {
        "700",
        "600",
    }


def test_runs_name_applications_and_doctor_says_who_may_read_them(tmp_path):
    tmp_path.chmod(0o755)
    _measured(tmp_path)
    assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700
    facts: dict = {}
    note = SimpleNamespace(trying=lambda _: None, found=lambda **more: facts.update(more))
    gather_store(tmp_path, read_states, lambda _: (), note)
    assert facts["open"] == []
    (tmp_path / "runs").chmod(0o755)
    gather_store(tmp_path, read_states, lambda _: (), note)
    assert facts["open"] == ["runs"]
    tmp_path.chmod(0o700)
    gather_store(tmp_path, read_states, lambda _: (), note)
    assert facts["open"] == []


def test_a_folder_that_others_may_read_stays_so(tmp_path):
    tmp_path.chmod(0o755)
    simulated(tmp_path, 900)
    (tmp_path / "samples").mkdir(mode=0o750)
    (tmp_path / "samples").chmod(0o750)
    (sealed,) = seal(tmp_path)
    assert sealed.stat().st_mode & 0o777 == 0o640
    assert sealed.parent.stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "rollups").stat().st_mode & 0o777 == 0o755, "as the store"
    make_folder(tmp_path / "jobs" / "month=2026-09")
    assert (tmp_path / "jobs").stat().st_mode & 0o777 == 0o700, "it names users"
    draft = draft_of(tmp_path / "jobs" / "month=2026-09" / "a.parquet")
    permitted(draft)
    assert draft.stat().st_mode & 0o777 == 0o600
