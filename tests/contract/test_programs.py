"""The list of programs that tests start: nothing is started beside it, and it says what is true."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scripts import programs
from tests.kit.harness import ROOT
from tests.kit.programs import BEFORE, LISTED, LOG, UnlistedError, refuse
from tests.kit.shell_words import commands

SHELL = re.compile(r"#!/bin/(?:ba)?sh\b|#!/usr/bin/env (?:ba)?sh\b")


@pytest.fixture
def unlisted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that this machine has and the list has not."""
    for folder in os.environ[BEFORE].split(":"):
        for found in sorted(Path(folder).glob("[a-z]*")):
            if (
                found.name not in LISTED
                and os.access(found, os.X_OK)
                and folder in ("/usr/bin", "/bin")
            ):
                return found.name
    raise AssertionError("no program at all beside the list")


def test_a_program_outside_the_list_is_refused(unlisted: str) -> None:
    for asked in (unlisted, f"/usr/bin/{unlisted}", "no-such-program"):
        with pytest.raises(UnlistedError, match=f"{unlisted}|no-such-program"):
            subprocess.run([asked], check=False)
        with pytest.raises(UnlistedError):
            os.posix_spawn(asked, [asked], os.environ)


def test_programs_beside_the_python_of_the_system_are_no_exception(
    unlisted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, name, "/usr")
    with pytest.raises(UnlistedError):
        refuse(f"/usr/bin/{unlisted}", "")
    refuse(sys.executable, "")


def test_a_shell_finds_no_program_outside_the_list(unlisted: str) -> None:
    for shell in (["sh"], ["bash"], ["nice", "sh"], ["unshare", "sh"]):
        done = subprocess.run(
            [*shell, "-c", f"{unlisted} --version"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 127, done
        assert "not found" in done.stderr


def test_a_test_that_starts_one_fails(unlisted: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_configure\n")
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            f"""
            import subprocess
            def test_unlisted(): subprocess.run(["{unlisted}", "--version"])
            def test_listed(): subprocess.run(["true"], check=True)
            """
        )
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            ROOT / "pyproject.toml",
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "is not in scripts/programs.toml" in done.stdout


def test_files_of_ours_and_paths_to_nothing_are_free(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.write_text("#!/bin/sh\n")
    ours.chmod(0o755)
    refuse(ours, "")
    refuse("ours", str(tmp_path))
    refuse("/nowhere/iosonde", "")


def test_a_listed_program_that_is_not_there_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    with pytest.raises(FileNotFoundError):
        subprocess.run(["lintian"], check=False, env={"PATH": str(tmp_path)})
    assert (tmp_path / "log").read_text() == "missing lintian\n"


def scripts() -> list[Path]:
    files = [file for folder in ("scripts", "deploy") for file in (ROOT / folder).rglob("*")]
    found = [file for file in files if file.suffix in ("", ".sh", ".sbatch", ".nhc")]
    return [file for file in found if file.is_file() and SHELL.match(file.read_text()[:40])]


@pytest.mark.parametrize("script", scripts(), ids=lambda file: file.name)
def test_a_script_starts_listed_programs(script: Path) -> None:
    site = programs.of_sites() if script.is_relative_to(ROOT / "deploy") else set()
    ours = {"iosonde", "iosonde-agent"}
    assert commands(script.read_text()) - set(LISTED) - site - ours == set()


def test_the_scan_of_scripts_sees_commands() -> None:
    script = """
        listed() { awk '{print unseen}' "$(find . -name 'x; y')"; }   # comment; z
        A=1 exec nice sort <f | uniq -c && if ! grep -q "a; b"; then cat; fi
        case $x in
            purge | all) rm -rf /x ;;
        esac
        n=$((n + 1)); listed; echo "${left:-no news}"
    """
    assert commands(script) == {"awk", "find", "nice", "uniq", "grep", "cat", "rm"}


def test_rust_starts_listed_programs() -> None:
    named = {
        name
        for file in (ROOT / "rust").rglob("*.rs")
        for name in re.findall(r'Command::new\("([^"]+)"\)', file.read_text())
    }
    assert "sh" in named
    assert named <= set(LISTED)


def test_contributing_has_the_table() -> None:
    assert programs.table() in programs.CONTRIBUTING.read_text(), "run python scripts/programs.py"


def test_services_asks_the_list_for_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "scripts/programs.py missing" in (ROOT / "scripts/services").read_text()
    monkeypatch.setattr(programs, "ADMINISTRATORS", "/nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = programs.missing()
    assert {"lintian", "nfs-ganesha", "nfs-ganesha-vfs"} <= set(found)
    assert not {"fio", "debootstrap"} & set(found)
    (tmp_path / "lintian").touch(0o755)
    assert set(found) - set(programs.missing()) == {"lintian"}


@pytest.mark.service
@pytest.mark.skipif(shutil.which("dpkg") is None, reason="no dpkg: the packages are Debian's")
def test_each_program_comes_from_the_package_that_the_list_names() -> None:
    wrong = {}
    for one in LISTED.values():
        found = one.find(os.environ[BEFORE])
        if one.package is None or found is None or not found.is_relative_to("/usr"):
            continue
        places = {found, found.resolve(), Path("/", *found.parts[2:])}
        asked = subprocess.run(
            ["dpkg", "--search", *map(str, places)], capture_output=True, text=True, check=False
        )
        owners = {line.partition(":")[0] for line in asked.stdout.splitlines() if ": /" in line}
        if owners and not any(owner.startswith(one.package) for owner in owners):
            wrong[one.name] = owners
    assert wrong == {}
