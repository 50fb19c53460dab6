#!/usr/bin/env python3
"""Stands in for Lustre's ``lfs``: the few calls that pin a probe's files, as the manual describes them.

Layouts lie in side files of the folder ``FAKE_LFS``, which also says how the file system is::

    <path>.ost <path>.mdt    the layout of a directory, which what is made below it inherits
    servers                  how many OSTs and how many MDTs there are: "4 2"
    elsewhere                "ending index" lines: files whose path ends so lie on another server
    refuse                   its text is the error of every call that changes a layout
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote

NOTES = Path(os.environ["FAKE_LFS"])


def note(path: Path, kind: str) -> Path:
    return NOTES / f"{quote(str(path), safe='')}.{kind}"


def inherited(path: Path, kind: str) -> int | None:
    for at in (path, *path.parents):
        if note(at, kind).exists():
            return int(note(at, kind).read_text())
    return None


def moved(path: Path) -> int | None:
    text = (NOTES / "elsewhere").read_text() if (NOTES / "elsewhere").exists() else ""
    lines = (line.rsplit(" ", 1) for line in text.splitlines())
    return next((int(index) for ending, index in lines if str(path).endswith(ending)), None)


def change(call: str, kind: str, index: int, path: Path) -> None:
    if (NOTES / "refuse").exists():
        sys.exit(f"lfs {call}: error on '{path}': {(NOTES / 'refuse').read_text()}")
    servers = dict(
        zip(("ost", "mdt"), map(int, (NOTES / "servers").read_text().split()), strict=True)
    )
    if index >= servers[kind]:
        sys.exit(f"lfs {call}: error on '{path}': Invalid argument")
    if call == "mkdir":
        path.mkdir()
    elif not path.is_dir() or any(path.iterdir()):
        sys.exit(f"lfs {call}: '{path}' is no empty directory")
    note(path, kind).write_text(str(index))


def main(arguments: list[str]) -> None:
    *call, last = arguments
    path = Path(last)
    match call:
        case ["setstripe", "-c", "1", "-i", index]:
            change("setstripe", "ost", int(index), path)
        case ["mkdir", "-i", index]:
            change("mkdir", "mdt", int(index), path)
        case ["getstripe", "-d", "-i"] if path.is_dir():
            found = inherited(path, "ost")
            print(-1 if found is None else found)
        case ["getdirstripe", "-i"] if path.is_dir():
            print(inherited(path, "mdt") or 0)
        case ["getstripe", ("-i" | "--mdt-index") as what] if path.is_file():
            found = moved(path)
            found = inherited(path, "ost" if what == "-i" else "mdt") if found is None else found
            print(found or 0)
        case _:
            sys.exit(f"fake lfs does not know {arguments}")


if __name__ == "__main__":
    main(sys.argv[1:])
