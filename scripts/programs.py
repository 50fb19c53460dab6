"""Read scripts/programs.toml, the list of programs that tests, scripts and benchmarks start. Python 3.11 is enough.

python scripts/programs.py missing     packages that are not installed here, for `scripts/services`
python scripts/programs.py             write the table into CONTRIBUTING.md
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "scripts" / "programs.toml"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
ADMINISTRATORS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Folders that PATH of a user may lack."""


@dataclass(frozen=True)
class Program:
    """A program by name; ``package`` is Debian's, None of a toolchain."""

    name: str
    package: str | None
    helpers: bool
    place: str | None = None
    """Pattern of the folder that holds it, where that is not in PATH."""

    def find(self, path: str | None = None) -> Path | None:
        """Where it is, by ``path`` or this process's PATH."""
        places = sorted(map(str, Path("/").glob(self.place)), reverse=True) if self.place else []
        folders = [os.environ.get("PATH", "") if path is None else path, ADMINISTRATORS, *places]
        found = shutil.which(self.name, path=":".join(folders))
        return Path(found) if found else None


def read() -> dict[str, Program]:
    """Each program by its name."""
    listed = tomllib.loads(FILE.read_text())
    found = [Program(name, None, True) for names in listed["toolchain"].values() for name in names]
    found += [
        Program(name, package, False) for package, names in listed["base"].items() for name in names
    ]
    found += [
        Program(name, package, about.get("helpers", False), about.get("places"))
        for package, about in listed["packages"].items()
        for name in about["programs"]
    ]
    names = [one.name for one in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{FILE}: {', '.join(sorted(twice))} listed twice; expected once")
    return {one.name: one for one in found}


def of_sites() -> set[str]:
    """Programs that only scripts in deploy/ start."""
    return {name for names in tomllib.loads(FILE.read_text())["site"].values() for name in names}


def missing() -> list[str]:
    """Debian packages to install, so that tests find their programs."""
    listed = read()
    found = []
    for package, about in tomllib.loads(FILE.read_text())["packages"].items():
        absent = any(listed[name].find() is None for name in about["programs"])
        if absent and not about.get("by_hand"):
            found += [package, *about.get("with", ())]
    return found


def table() -> str:
    """The table of CONTRIBUTING.md."""
    packages = tomllib.loads(FILE.read_text())["packages"]
    lines = ["| package | programs | for |", "|---|---|---|"]
    for package, about in sorted(packages.items()):
        names = ", ".join(f"`{name}`" for name in about["programs"])
        needs = " and ".join([package, *about.get("with", ())])
        by_hand = " (by hand)" if about.get("by_hand") else ""
        lines.append(f"| {needs}{by_hand} | {names} | {about['for']} |")
    return "\n".join(lines) + "\n"


def _write() -> None:
    text = CONTRIBUTING.read_text()
    old = re.compile(r"\| package \| programs \| for \|\n(?:\|.*\n)+")
    CONTRIBUTING.write_text(old.sub(lambda _: table(), text, count=1))


if __name__ == "__main__":
    if sys.argv[1:] == ["missing"]:
        print(" ".join(missing()))
    else:
        _write()
