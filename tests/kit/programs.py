"""Programs that tests start: those of scripts/programs.toml and no others, on every machine.

A folder of links to them replaces PATH, so that nothing that a test starts finds another one either: a shell, a script,
a command of ours. An audit hook refuses what this process starts by a path. Files of the checkout, of Python's
environment and of temporary folders are free.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from scripts.programs import ADMINISTRATORS, FILE, ROOT, Program, read

BEFORE = "IOSONDE_PATH_BEFORE_TESTS"
"""The PATH that the outermost test process was started with."""
LOG = "IOSONDE_PROGRAMS_LOG"
"""A file that gets a line for each listed program that a test starts and that is not installed."""
LISTED = read()


class UnlistedError(AssertionError):
    """A program outside scripts/programs.toml was started."""


def program(name: str) -> Path:
    """The path of a listed program; FileNotFoundError, with the package to install, where there is none."""
    found = LISTED[name].find(os.environ.get(BEFORE))
    if found is None:
        package = LISTED[name].package or "the toolchain that README.md names"
        raise FileNotFoundError(
            f"{name}: not found; expected it from {package}: try scripts/services"
        )
    return found


def refuse(executable: Any, path: str) -> None:
    """Raise UnlistedError unless a test may start ``executable``, which this PATH resolves."""
    asked = Path(os.fsdecode(executable))
    found = Path(shutil.which(asked, path=path) or asked)
    if asked.name in LISTED:
        if not found.exists() and (log := os.environ.get(LOG)):
            with Path(log).open("a") as lines:
                lines.write(f"missing {asked.name}\n")
    elif not _is_free(found):
        raise UnlistedError(
            f"{asked} is not in {FILE.relative_to(ROOT)}; expected it there, with the package that brings it"
        )


def _is_free(found: Path) -> bool:
    """Whether it is ours, Python's or a test's; a path to nothing is free, too."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    ours = [ROOT, Path(cache) / "iosonde"]
    if sys.prefix != sys.base_prefix:  # else it holds the programs of the system, too
        ours.append(Path(sys.prefix))
    made = (Path(tempfile.gettempdir()), Path("/dev/shm"))
    place = Path(os.path.abspath(found))  # noqa: PTH100  (links stay)
    return len(found.parts) > 1 and (
        not found.exists()
        or found.resolve() == Path(sys.executable).resolve()
        or any(place.is_relative_to(folder) for folder in (*ours, *made))
    )


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook."""
    if event not in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        return
    executable, words, environ = arguments[0], arguments[1], arguments[-1]
    path = os.environ.get("PATH", "")
    if environ:
        path = os.fsdecode(environ.get("PATH") or environ.get(b"PATH") or path)
    refuse(executable or words[0], path)


def link(one: Program, folder: Path, before: str) -> None:
    """Put a program into the folder that replaces PATH; one with helpers keeps the PATH that was."""
    found = one.find(before)
    if found is None:
        return
    if not one.helpers:
        (folder / one.name).symlink_to(found)
        return
    whole = shlex.quote(f"{before}:{ADMINISTRATORS}")
    (folder / one.name).write_text(
        f'#!/bin/sh\nexport PATH={whole}\nexec {shlex.quote(str(found))} "$@"\n'
    )
    (folder / one.name).chmod(0o755)


class ListedPrograms:
    """The plugin: processes of a run share the folder of the first of them."""

    def pytest_configure(self, config: pytest.Config) -> None:
        sys.addaudithook(watch)
        if BEFORE in os.environ:
            return
        before = os.environ.get("PATH", os.defpath)
        folder = Path(tempfile.mkdtemp(prefix="iosonde-programs-"))
        folder.chmod(0o755)  # tests become other users
        for one in LISTED.values():
            link(one, folder, before)
        patch = pytest.MonkeyPatch()
        patch.setenv(BEFORE, before)
        patch.setenv("PATH", str(folder))
        config.add_cleanup(lambda: shutil.rmtree(folder))
        config.add_cleanup(patch.undo)
