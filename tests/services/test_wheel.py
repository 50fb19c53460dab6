"""The wheel in an empty environment: command, extension, static agent, page, manual pages, completions."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from iosonde.cli.completion.completion import FILES
from iosonde.cli.completion.parsers import command_helps
from tests.kit.harness import AGENT, IOSONDE, ROOT

pytestmark = pytest.mark.service


def run(*command: object) -> str:
    """Stdout of a command with nothing of this environment in its own."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "TZ": "UTC"}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environ, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def built_wheel() -> Path:
    """The wheel of what is built; made unless `make wheel` made it since."""
    made_ns = max(file.stat().st_mtime_ns for file in (AGENT, IOSONDE))
    wheels = [
        wheel
        for wheel in (ROOT / "dist").glob("iosonde-*.whl")
        if wheel.stat().st_mtime_ns > made_ns
    ]
    if not wheels:
        subprocess.run(["make", "--no-print-directory", "wheel"], cwd=ROOT, check=True, timeout=600)
        wheels = list((ROOT / "dist").glob("iosonde-*.whl"))
    return max(wheels, key=lambda wheel: wheel.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An environment with the wheel; packages that it depends on are those of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    install = [
        ROOT / ".venv/bin/uv",
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-deps",
        "--python",
        python,
    ]
    subprocess.run(
        [*install, built_wheel()], check=True, env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "of-the-tests.pth").write_text(
        sysconfig.get_path("purelib", vars={"base": sys.prefix}) + "\n"
    )
    where = run(
        python,
        "-c",
        "import iosonde, iosonde._core; print(iosonde.__file__, iosonde._core.__file__)",
    )
    assert all(path.startswith(str(packages)) for path in where.split()), where
    return folder


def test_both_commands_start_and_are_of_one_version(place):
    program, version = run(place / "bin/iosonde", "--version").split()
    assert program == "iosonde"
    assert run(place / "bin/iosonde-agent", "--version").split() == ["iosonde-agent", version]


def test_the_agent_needs_no_library_of_the_machine(place):
    done = subprocess.run(
        ["ldd", place / "bin/iosonde-agent"], capture_output=True, text=True, check=False
    )
    assert (
        "statically linked" in done.stdout + done.stderr
        or "not a dynamic executable" in done.stderr
    )
    assert (place / "bin/iosonde-agent").stat().st_size < 8 << 20


def test_it_measures(place, tmp_path):
    said = run(
        place / "bin/iosonde", "ping", tmp_path, "--duration", "1s", "--store", tmp_path / "store"
    )
    assert str(tmp_path) in said
    assert "creates" in said


def test_it_carries_page_pages_and_completions(place):
    (package,) = place.glob("lib/python*/site-packages/iosonde")
    assert "<script" in (package / "serve/static/index.html").read_text()
    manual = place / "share/man/man1"
    names = {"-".join(("iosonde", *one.words)) for one in command_helps()}
    assert {page.stem for page in manual.iterdir()} >= names | {
        "iosonde",
        "iosonde-agent",
        "iosonde-agent-check",
    }
    for completion in FILES.values():
        for file in (completion, completion.replace("iosonde", "iosonde-agent")):
            assert (place / "share" / file).stat().st_size > 1000
    run("bash", "-n", place / "share" / FILES["bash"])
