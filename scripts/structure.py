"""Measure the source tree: import circles, full folders, families of names, repeated class names, help strings.

    scripts/structure.py            print every measure
    scripts/structure.py --check    exit 1 where one is over its limit (`make lint` does this)

The table of section 7 of the house plan comes from `structure_table.py`. Reads files as text and syntax trees;
imports nothing of iosonde.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import structure_table

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "iosonde"
FULLEST, FAMILIES, TWINS = 24, 3, 5
"""Limits: files of one folder; families of names; class names that stand in several files."""
VAGUE = 0.04
"""Limit: share of docstrings whose first line begins with what, which, whether, of, where, how, one."""
_DANGLING = re.compile(
    r"(of|in|over|what|where|which|as|at|for|from|on|with|beside|past|then|that|by|to|who|how|when) "
)
_BRIEF = 2
"""A prefix that more files of one folder share asks for a folder of its own."""


def modules() -> dict[str, Path]:
    """Python modules by dotted name; a package is its ``__init__``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def python_edges(types: bool = False) -> dict[str, set[str]]:
    """Imports of iosonde by each module, within functions too; ``types``: also those for types alone.

    Those of the package itself do not count: it only names its doors.
    """
    named = modules()
    edges: dict[str, set[str]] = defaultdict(set)
    for name, path in named.items():
        for node in _loaded(ast.parse(path.read_text()).body, types):
            for target in _targets(node):
                if target in named and target not in (name, PACKAGE.name):
                    edges[name].add(target)
    return edges


def _loaded(body: list[Any], types: bool) -> Iterator[Any]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not types:
            yield from _loaded(node.orelse, types)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        else:
            for name in ("body", "orelse", "handlers", "finalbody"):
                yield from _loaded(getattr(node, name, []), types)


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield f"{node.module}.{alias.name}"
        yield node.module


def page_edges() -> dict[str, set[str]]:
    """What each TypeScript module of the page imports, types included."""
    edges: dict[str, set[str]] = defaultdict(set)
    pattern = re.compile(r'^(?:import|export)\s+[^;]*?from\s+"(\.[^"]+)"', re.M)
    for path in _page_files():
        for target in pattern.findall(path.read_text()):
            whole = (path.parent / target).resolve().with_suffix(".ts")
            if whole.exists():
                edges[str(path.relative_to(ROOT))].add(str(whole.relative_to(ROOT)))
    return edges


def _page_files() -> list[Path]:
    return [p for p in sorted((ROOT / "web").rglob("*.ts")) if "node_modules" not in p.parts]


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Sets of modules that import each other, by Tarjan's strongly connected components."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(edges.get(name, ())):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return found


def families() -> list[tuple[str, str, int]]:
    """(folder, prefix, files): prefixes before ``_`` that more than two files of a folder share."""
    count: Counter[tuple[str, str]] = Counter()
    for path in modules().values():
        stem = path.stem
        if not stem.startswith("_"):
            count[str(path.parent.relative_to(PACKAGE.parent)), stem.split("_")[0]] += 1
    return [(folder, prefix, n) for (folder, prefix), n in count.items() if n > _BRIEF]


def twins() -> dict[str, list[str]]:
    """Class names that stand in several files; private ones do not count."""
    where: dict[str, list[str]] = defaultdict(list)
    for name, path in modules().items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(name)
    return {name: places for name, places in sorted(where.items()) if len(places) > 1}


def help_strings() -> Iterator[tuple[str, int, str]]:
    """(file, line, text) of every ``help=`` of the command line."""
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "help":
                text = _text(node.value)
                if text:
                    yield str(path.relative_to(ROOT)), node.value.lineno, text


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left)
    return ""


def lines() -> int:
    """Lines of src, rust and schema."""
    trees = ((PACKAGE, "*.py"), (ROOT / "rust", "*.rs"), (ROOT / "schema", "*.toml"))
    return sum(
        len(path.read_text().splitlines())
        for top, pattern in trees
        for path in top.rglob(pattern)
        if "target" not in path.parts
    )


def main() -> int:
    """Print the measures; with ``--check`` judge them too."""
    edges = python_edges()
    python, page = circles(edges), circles(page_edges())
    by_type = structure_table.type_circles(python, circles(python_edges(types=True)))
    folders = structure_table.folders().most_common()
    fullest = folders[0]
    shared, repeated = families(), twins()
    texts = list(help_strings())
    dangling = [one for one in texts if _DANGLING.match(one[2])]
    print(f"import circles of Python      {len(python)}")
    print(f"import circles of the page    {len(page)}")
    print(f"files of the fullest folder   {fullest[1]} ({fullest[0]})")
    print(f"families of names             {len(shared)}")
    print(f"class names in several files  {len(repeated)}")
    print(f"help strings that dangle      {len(dangling)} of {len(texts)}")
    vague, firsts = structure_table.vague_docstrings()
    print(f"vague first lines             {vague} of {firsts}")
    print(f"lines of src, rust, schema    {lines()}")
    for one in (*python, *page, *by_type):
        print("circle:", " <-> ".join(one))
    for folder, n in folders:
        if n > FULLEST:
            print(f"full: {folder} has {n} files")
    for folder, prefix, n in sorted(shared):
        print(f"family: {folder}/{prefix}* x{n}")
    for name, places in repeated.items():
        print(f"class {name}: {', '.join(places)}")
    for file, line, text in dangling:
        print(f"help: {file}:{line}: {text}")
    print("\ncheck | today | aim")
    for row in structure_table.rows(edges, by_type):
        print(" | ".join(row))
    over = bool(python or page or by_type or dangling) or fullest[1] > FULLEST
    over = over or len(shared) > FAMILIES or len(repeated) > TWINS or vague > VAGUE * firsts
    return int(over and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
