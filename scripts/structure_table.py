"""Measures of how the tree answers questions: doors, types, JSON, caches, commits, prose. `structure.py` prints them.

Reads files as text and syntax trees and the history with git; imports nothing of iosonde.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "iosonde"
DOORS = ("cli", "serve", "notebook")
ROOMS = ("weather", "doctor", "queue", "bench", "jobs", "why", "ingest")
SLOW_TYPES = (
    *("SlowSpan", "LostSpan", "WindowRun", "OpWindows", "Spell", "SlowPiece", "SpanPieces"),
    *("FoundPieces", "SlowStretch", "JudgedSpan", "SlowEvent", "Event", "NamedEvent"),
    *("StretchFacts", "BlamedSpan", "Stretches"),
)
"""Classes of a stretch of slowness; the aim is one of an operation, one of a target, and what goes beside them."""
CACHES = (
    *(
        "serve/history.py",
        "serve/shared.py",
        "serve/job_table.py",
        "serve/climate.py",
        "serve/series.py",
    ),
    *("serve/load/histories.py", "serve/load/answer.py", "jobs/store/scan.py"),
)
"""Modules with values by key in memory. Not of this kind: ``serve/arrivals.py``, a log of news by time;
``weather/rollups/at_hand.py``, one read that is cut into parts; ``weather/events/pieces/kept_spans.py``, the one that
keeps results in files of the store.
"""
PIPELINES = ("connectors/sources.py", "connectors/benchmarks/recognise.py")
EIGHT = {"ping", "now", "why", "explain", "events", "compare", "bench", "serve"}
_VAGUE = re.compile(r"(what|which|whether|of|where|how|one)\b", re.I)
_COMMITS, _WIDEST = 100, 0.4


def trees(top: Path = PACKAGE) -> Iterator[tuple[Path, ast.Module]]:
    """Syntax trees of the Python files below a folder."""
    for path in sorted(top.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def door_imports(edges: dict[str, set[str]]) -> tuple[int, int]:
    """Run-time imports of rooms by doors: those of `answers`, and all."""
    found = [
        target
        for source, targets in edges.items()
        for target in targets
        if source.split(".")[1:2] and source.split(".")[1] in DOORS
        if target.split(".")[1:2] and target.split(".")[1] in ROOMS
        if f"{target}.answers" not in targets  # the package of `from iosonde.room import answers`
    ]
    return sum(target.endswith(".answers") for target in found), len(found)


def slow_types() -> list[str]:
    """Those of ``SLOW_TYPES`` that the tree defines, once a file."""
    return [
        node.name
        for _, tree in trees()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name in SLOW_TYPES
    ]


def json_lines() -> dict[str, int]:
    """Lines that describe an answer's JSON, by place; files that a generator wrote do not count."""
    rooms = [
        path
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        if path.name == "data.py" or path.match("umami/records.py")
    ]
    api = [path for path in (ROOT / "web/api").rglob("*.ts") if not _generated(path)]
    shapes = [*(PACKAGE / "serve/shapes").rglob("*.py"), *PACKAGE.glob("serve/shapes.py")]
    places = {"data.py of rooms": rooms, "serve/shapes": shapes, "web/api": api}
    return {name: count(paths) for name, paths in places.items()}


def _generated(path: Path) -> bool:
    return path.read_text().startswith("// Generated")


def count(paths: Iterable[Path]) -> int:
    """Lines of files."""
    return sum(len(path.read_text().splitlines()) for path in paths)


def standing(files: Iterable[str]) -> list[str]:
    """Modules of the list that are there and do not use the one piece, ``Kept``."""
    return [
        file
        for file in files
        if (PACKAGE / file).exists() and "import Kept" not in (PACKAGE / file).read_text()
    ]


def commits() -> tuple[float, float] | None:
    """Folders that the last hundred commits of code touch: mean of the widest 40%, share of four or more.

    A folder is a room, kernel folder or door, a crate, or a layer of the page; None without a history.
    """
    done = subprocess.run(
        ["git", "log", "--no-merges", f"-{5 * _COMMITS}", "--name-only", "--format=@%h"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return None
    sizes = []
    for commit in re.split(r"^@\w+$", done.stdout, flags=re.M)[1:]:
        touched = {folder for line in commit.split("\n") if (folder := _folder(line))}
        if touched:
            sizes.append(len(touched))
    sizes = sorted(sizes[:_COMMITS], reverse=True)
    if not sizes:
        return None
    widest = sizes[: max(1, round(_WIDEST * len(sizes)))]
    return sum(widest) / len(widest), sum(size >= 4 for size in sizes) / len(sizes)


def _folder(path: str) -> str:
    top, *rest = path.split("/")
    if top == "src" and len(rest) > 2:
        return rest[1]
    return f"{top}/{rest[0]}" if top in ("rust", "web") and len(rest) > 1 else ""


def commands() -> tuple[int, int]:
    """Commands that `iosonde --help` shows, and all; sub-commands of `bench` and `store` apart."""
    text = (PACKAGE / "cli/commands.py").read_text()
    every = {
        node.args[0].value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Command"
        and isinstance(node.args[0], ast.Constant)
    }
    folded = "all_of_them" in text
    return len(every & EIGHT) if folded else len(every), len(every)


def vague_docstrings() -> tuple[int, int]:
    """First docstring lines that begin with what, which, whether, of, where, how, one; and all."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    firsts = [
        text.partition("\n")[0]
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
    ]
    return sum(bool(_VAGUE.match(line)) for line in firsts), len(firsts)


def folders() -> Counter[str]:
    """Source files of each folder: product, tests, benchmarks, scripts, Rust, page; ``__init__`` apart."""
    found: Counter[str] = Counter()
    for top, ending in (
        *(("src", ".py"), ("tests", ".py"), ("benchmarks", ".py"), ("scripts", ".py")),
        *(("benchmarks", ".rs"), ("benchmarks", ".c"), ("rust", ".rs"), ("web", ".ts")),
    ):
        for path in (ROOT / top).rglob(f"*{ending}"):
            if not {"node_modules", "target"} & set(path.parts) and path.name != "__init__.py":
                found[str(path.parent.relative_to(ROOT))] += 1
    return found


def source_lines() -> int:
    """Lines of src, rust and web: Python, Rust, TypeScript."""
    return sum(
        count(p for p in (ROOT / top).rglob(pattern) if not {"node_modules", "target"} & {*p.parts})
        for top, pattern in (("src", "*.py"), ("rust", "*.rs"), ("web", "*.ts"))
    )


def type_circles(runtime: list[list[str]], typed: list[list[str]]) -> list[list[str]]:
    """Circles that imports for types close."""
    return [one for one in typed if one not in runtime]


def rows(edges: dict[str, set[str]], by_type: list[Any]) -> list[tuple[str, str, str]]:
    """(check, today, aim) of reference/house/answers.md, section 7."""
    answers, imports = door_imports(edges)
    described = json_lines()
    touched = commits()
    shown, every = commands()
    vague, firsts = vague_docstrings()
    fullest = folders().most_common(1)[0]
    texts = [count([ROOT / name]) for name in ("README.md", "docs/performance.md")]
    benchmarks = count((ROOT / "benchmarks").rglob("*.py"))
    keep = "pub use" in (ROOT / "rust/probe/src/record/retention.rs").read_text()
    slow, caches, pipelines = slow_types(), standing(CACHES), standing(PIPELINES)
    share = answers / imports if imports else 1.0
    return [
        (
            "door imports of rooms that are `answers`",
            f"{share:.0%} ({answers}/{imports})",
            ">= 95%",
        ),
        ("types of a slow stretch", str(len(slow)), "<= 4"),
        (
            "lines that describe an answer's JSON",
            f"{sum(described.values())} ({' + '.join(map(str, described.values()))})",
            "<= 1800, one place",
        ),
        ("import pipelines", str(len(pipelines)), "1"),
        ("caches of one kind", str(len(caches) or 1), "1"),
        (
            "folders a commit touches: widest 40%, four or more",
            "no history" if touched is None else f"{touched[0]:.1f} / {touched[1]:.0%}",
            "<= 4.0 / <= 12%",
        ),
        ("commands shown / in all", f"{shown} / {every}", "8 / <= 27"),
        (
            "lines of README / performance.md / benchmarks",
            f"{texts[0]} / {texts[1]} / {benchmarks}",
            "<= 120 / <= 200 / <= 9500",
        ),
        ("vague first lines of docstrings", f"{vague / firsts:.1%} ({vague}/{firsts})", "<= 4%"),
        ("fullest folder, tests and Rust included", f"{fullest[1]} ({fullest[0]})", "<= 24"),
        ("circles by type only, re-exported `Keep`", str(len(by_type) + keep), "0"),
        ("lines of src + rust + web", str(source_lines()), "<= 150000"),
    ]
