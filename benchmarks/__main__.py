"""Run benchmarks by name: ``python -m benchmarks [NAME [OPTIONS]]``; without a name, list them.

    python -m benchmarks agent --seconds 12           print a table
    python -m benchmarks truth --only T8 --save T8    write it to docs/performance/T8.txt, too
    python -m benchmarks claims                       make all tables of docs/performance.md anew (hours)
    python -m benchmarks claims now month             make those of some benchmarks

A benchmark is a module with ``main``; the options are main's parameters.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import re
import shlex
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import machine

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "performance.md"
TABLES = ROOT / "docs" / "performance"
ROOMS = ("speed", "soak", "truth")


def catalogue() -> dict[str, tuple[str, str]]:
    """Module and first line of its docstring by name, room by room; imports nothing."""
    found = {}
    for room in ROOMS:
        for path in sorted((HERE / room).rglob("*.py")):
            tree = ast.parse(path.read_text())
            if any(isinstance(one, ast.FunctionDef) and one.name == "main" for one in tree.body):
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found[path.stem] = (module, (ast.get_docstring(tree) or "").partition("\n")[0])
    return found


def parser_of(name: str, main: Callable[..., Any], doc: str | None) -> argparse.ArgumentParser:
    """Options from the parameters of ``main``; one without a default is positional."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for one in inspect.signature(main, eval_str=True).parameters.values():
        kind, many = _type(one.annotation)
        if one.kind is one.VAR_POSITIONAL:
            parser.add_argument(one.name, type=kind, nargs="*")
        elif one.default is one.empty:
            parser.add_argument(one.name, type=kind)
        else:
            words: dict[str, Any] = {"type": kind, "default": argparse.SUPPRESS}
            words |= {"action": "extend", "nargs": "+"} if many else {}
            parser.add_argument(f"--{one.name.replace('_', '-')}", **words)
    parser.add_argument("--save", nargs="?", const=name, metavar="NAME", help="write the table")
    return parser


def _type(annotation: Any) -> tuple[Any, bool]:
    """Type of one value, and whether there may be several."""
    if isinstance(annotation, types.UnionType):
        annotation = next(one for one in typing.get_args(annotation) if one is not types.NoneType)
    inner = typing.get_args(annotation)
    return (inner[0], True) if inner else (annotation, False)


def run(name: str, words: list[str]) -> int:
    """Run one benchmark under the line of its machine."""
    module = import_module(catalogue()[name][0])
    given = vars(parser_of(name, module.main, module.__doc__).parse_args(words))
    save = given.pop("save")
    positional = [
        one
        for one in inspect.signature(module.main).parameters.values()
        if one.kind is one.VAR_POSITIONAL or one.default is one.empty
    ]
    first: list[Any] = []
    for one in positional:
        value = given.pop(one.name)
        first += value if one.kind is one.VAR_POSITIONAL else [value]
    with _told(save, name, words):
        print(machine.line(), flush=True)
        return int(module.main(*first, **given) or 0)


@contextlib.contextmanager
def _told(save: str | None, name: str, words: list[str]) -> Iterator[None]:
    """Copy what is printed meanwhile to a file of docs/performance."""
    if save is None:
        yield
        return
    with contextlib.redirect_stdout(_Twice(sys.stdout)) as told:
        yield
    kept = [w for w in words if w not in ("--save", save)]
    TABLES.mkdir(exist_ok=True)
    command = shlex.join(["python", "-m", "benchmarks", name, *kept])
    (TABLES / f"{save}.txt").write_text(f"{command}\n\n{told.getvalue()}")


class _Twice(io.StringIO):
    """Text that is printed and kept."""

    def __init__(self, shown: typing.TextIO) -> None:
        super().__init__()
        self.shown = shown

    def write(self, text: str) -> int:
        self.shown.write(text)
        return super().write(text)

    def flush(self) -> None:
        self.shown.flush()


def claims(names: list[str]) -> int:
    """Run the commands of docs/performance.md and write their tables; all, or those of some benchmarks."""
    row = re.compile(r"`python -m benchmarks ([^`]*)`.*\(performance/([\w-]+)\.txt\)")
    failed = 0
    for command, table in row.findall(PAGE.read_text()):
        name, *words = shlex.split(command)
        if names and name not in names:
            continue
        print(f"\n$ python -m benchmarks {command}", flush=True)
        if any(re.fullmatch(r"[A-Z]{3,}", word) for word in words):
            print("left out: it needs a folder or a store of yours")
            continue
        ours = [sys.executable, "-m", "benchmarks", name, *words, "--save", table]
        failed |= subprocess.run(ours, cwd=ROOT, check=False).returncode
    return int(failed != 0)


def main(words: list[str]) -> int:
    """List, or run what is named."""
    known = catalogue()
    if not words or words[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        for room in ROOMS:
            print(f"\n{room}")
            for name, (module, line) in known.items():
                if module.split(".")[1] == room:
                    print(f"  {name:<16} {line}")
        return 0
    name, *rest = words
    if name == "claims":
        return claims(rest)
    if name not in known:
        print(f"no benchmark {name!r}; expected one of: {', '.join(known)}", file=sys.stderr)
        return 2
    return run(name, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
