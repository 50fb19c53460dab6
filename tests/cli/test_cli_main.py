from __future__ import annotations

import subprocess
import sys

import pytest

from iosonde.cli.commands import FIRST, GROUPS, RENAMED, every
from iosonde.cli.shared.text import table
from iosonde.model.units import format_count
from tests.kit.commands import ENVIRON, put, run
from tests.kit.samples.makers import simulated, state

NO_STORE = ("completion",)
"""Commands that read files only."""
HEAVY = ("numpy", "duckdb", "rich", "matplotlib", "fastapi", "iosonde._core", "dataclasses")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    simulated(root, 2400, {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0})
    return root


def test_help_names_every_command(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  ")][4:12] == [
        command.name for command in FIRST
    ]
    folded = text.partition("  serve ")[2].split()
    assert run("help", "all") == 0
    whole = capsys.readouterr().out
    for command in (one for group in GROUPS.values() for one in group):
        assert command.name in folded
        assert f"  {command.name:<11}{command.summary}" in whole
    assert run("help", "now") == 0


def test_every_command_has_help_with_examples(capsys):
    for command in every():
        assert run(command.name, "--help") == 0
        text = capsys.readouterr().out
        assert "examples:\n  " in text
        assert "--store" in text or command.name in NO_STORE


def test_a_former_command_names_its_new_words_once(store, capsys):
    for old, new in RENAMED.items():
        assert run(old, "--help") == 0
        told = capsys.readouterr()
        assert told.err == f"iosonde: note: '{old}' is now '{' '.join(new)}'\n"
        assert told.out.startswith(f"usage: iosonde {' '.join(w for w in new if w[0] != '-')} ")
    assert run("fleet", store=store) == run("now", "--hosts", store=store)


def test_no_command_is_a_usage_error(capsys):
    assert run() == 2
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nwo"], "there is no command 'nwo'"),
        (["now", "--sinec"], "unrecognized arguments: --sinec; try --since, or"),
        (["events", "--sinec", "-1h"], "--sinec=-1h; try --since, or"),
        (["--store", "/data", "now"], "--store stands before a command; expected options after it"),
        (["slowdown", "--window", "1mi"], "--window: cannot read the duration '1mi'"),
        (["slowdown", "--op", "crate"], "try 'creates'"),
        (["slowdown", "--since", "soon"], "cannot read the time 'soon'"),
        (["slowdown", "--since", "-1h", "--until", "-2h"], "--since is not before --until"),
        (["slowdown", "--format", "parquet"], "-o FILE"),
        (["export", "samples", "-o", "x.xls"], "expected --format parquet, csv or json"),
        (["export", "samples", "--format", "parquet"], "-o FILE"),
        (["probe", "/tmp", "--file-size", "1mi"], "try 1MiB"),
        (["probe"], "required: DIR"),
    ],
)
def test_wrong_requests_say_what_to_try(store, capsys, arguments, message):
    assert run(*arguments, store=store) == 2
    error = capsys.readouterr().err
    assert error.startswith("iosonde: ")
    assert message in error
    assert error.count("\n") == 1


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("iosonde ")


def test_a_reader_that_goes_away_is_no_error(store):
    command = f"{sys.executable} -m iosonde.cli.main export samples --store {store} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env=ENVIRON,
        check=True,
    )
    assert done.stdout.splitlines()[0].startswith("schema_version,due_ns")
    assert done.stdout.splitlines()[1] == "141"
    assert done.stderr == ""


def started(store, script, **environ):
    """What a shell gets from ``script``, in which $IOSONDE is the command."""
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={
            **ENVIRON,
            "IOSONDE": f"{sys.executable} -m iosonde.cli.main",
            "IOSONDE_STORE": str(store),
            **environ,
        },
        check=True,
    )


@pytest.mark.parametrize("command", ["now", "slowdown --format csv", "check", "--version"])
def test_closed_output_is_no_error(store, command):
    done = started(
        store, f"$IOSONDE {command} >&-; echo $?; $IOSONDE {command} <&- >&- 2>&-; echo $?"
    )
    assert done.stdout.split() in (["0", "0"], ["3", "3"]), "check says 3: nothing runs there"
    assert done.stderr == ""


def test_an_encoding_without_our_letters_is_no_error(tmp_path):
    put(tmp_path, work=state(target="/wörk"))
    done = started(tmp_path, "$IOSONDE now", PYTHONIOENCODING="ascii:strict")
    assert "/w?rk" in done.stdout
    assert done.stderr == ""


def test_a_store_that_is_a_file_is_told_in_a_line(tmp_path, capsys):
    path = tmp_path / "file"
    path.touch()
    for command in ("now", "events", "slowdown", "runs", "jobs", "export"):
        words = ("export", "samples") if command == "export" else (command,)
        assert run(*words, store=path) == 1
        error = capsys.readouterr().err
        assert error.startswith("iosonde: ")
        assert str(path) in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["now", "check"])
def test_the_quick_commands_import_nothing_heavy(tmp_path, command):
    put(tmp_path, work=state())
    script = (
        "import sys; from iosonde.cli.main import main; "
        f"main(['{command}', '--store', sys.argv[1]]); "
        "print(*[m for m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        env=ENVIRON,
        check=True,
    )
    modules = set(done.stderr.split())
    # The core says the verdict; it loads in a millisecond.
    assert "iosonde._core" in modules
    assert not modules & (set(HEAVY) - {"iosonde._core"})


def test_tables_align():
    assert table(("", "n"), [("a", "1"), ("long", "100")]) == "        n\na       1\nlong  100"
    assert format_count(1234567) == "1,234,567"
