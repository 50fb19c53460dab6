"""Small answers to small mistakes: names that are nearly right, stores that hold nothing."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iosonde.cli.main import main
from iosonde.cli.shared.named_run import run_named
from iosonde.jobs.table.from_files import merged
from iosonde.model.errors import UsageError
from tests.kit.commands import put, run
from tests.kit.jobs.jobs_made import simulated
from tests.kit.samples.makers import state

PROLOG = Path(__file__).parents[2] / "deploy" / "slurm" / "taskprolog.sh"


@pytest.mark.parametrize("near", ["work", "/wrok", "wrk/"])
def test_a_target_that_is_nearly_right_is_guessed(tmp_path, capsys, near):
    put(tmp_path, work=state(target="/work"), home=state(target="/home"))
    assert run("now", near, store=tmp_path) == 2
    assert capsys.readouterr().err.endswith("expected one of /home, /work; try '/work'\n")


def test_a_target_like_no_other_gets_no_guess(tmp_path, capsys):
    put(tmp_path, work=state(target="/work"))
    assert run("now", "/elsewhere", store=tmp_path) == 2
    assert capsys.readouterr().err.endswith("expected one of /work; try 'iosonde now'\n")


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (["figure", "timline"], "try 'timeline'"),
        (["export", "sample"], "try 'samples'"),
        (["explian"], "try 'iosonde explain'"),
        (["now", "--verbos"], "try --verbose"),
    ],
)
def test_values_commands_and_options_are_guessed(capsys, words, guess):
    assert main(words) == 2
    assert guess in capsys.readouterr().err


def test_an_unknown_option_is_no_store(capsys):
    for option in ("--port", "--target"):
        assert main(["now", option, "x"]) == 2
        err = capsys.readouterr().err
        assert "--store" not in err
        assert "'iosonde now --help'" in err


def test_a_run_that_is_nearly_right_is_guessed():
    names = ["metadata-20261123T085600-463485", "bandwidth-20261123T085700-197119"]
    with pytest.raises(UsageError, match=f"try '{names[0]}'"):
        run_named("metadta", names)


@pytest.mark.parametrize("table", ["samples", "windows", "runs"])
def test_an_empty_store_has_nothing_to_export(tmp_path, capsys, table):
    assert run("export", table, store=tmp_path) == 1
    seen = capsys.readouterr()
    assert seen.out == ""
    assert str(tmp_path) in seen.err


def test_a_store_that_does_not_exist_cannot_be_sealed(tmp_path, capsys):
    assert run("store", "seal", store=tmp_path / "nonexistent") == 1
    assert "there is no store" in capsys.readouterr().err
    assert not (tmp_path / "nonexistent").exists()
    assert run("store", "seal", store=tmp_path) == 0


def test_the_same_source_is_named_once():
    table = replace(simulated(12), source="/a/store")
    later = replace(table, start_ns=table.start_ns + 10**15, end_ns=table.end_ns + 10**15)
    assert merged([table, later]).source == "/a/store"


def test_a_node_without_the_login_line_prints_nothing(tmp_path):
    missing = {**os.environ, "IOSONDE_MOTD_SCRIPT": str(tmp_path / "none"), "SLURM_PROCID": "0"}
    done = subprocess.run(
        ["bash", str(PROLOG)], env=missing, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
