"""Print the circles between modules of each Rust crate of the workspace; exit 1 when there is one.

::

    scripts/circles_rust.py            every member of the workspace
    scripts/circles_rust.py rust/core  one crate
    scripts/circles_rust.py --edges    every edge, for a look at the shape

A file is a module. It depends on the modules that its paths begin with (``crate::``, ``super::``, ``self::`` or the
name of a child). A name that a parent re-exports (``pub use``) leads to the module that defines it, so a ``mod.rs``
that only re-exports is on no circle. Items under ``#[cfg(test)]`` do not count.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Name = tuple[str, ...]
"""A module or item as segments below the crate's root; the root itself is empty."""

TOKENS = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^']*|[^'\\])'""",
    re.VERBOSE | re.DOTALL,
)
TEST_ITEM = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*[^;{]*[;{]")
INLINE_MODULE = re.compile(r"\bmod\s+\w+\s*\{")
CHILD = re.compile(r"\bmod\s+(\w+)\s*;")
USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.])(?:\w+::)+\w+")


@dataclass
class Module:
    """A file: its paths as they are written, resolved later against all modules of the crate."""

    file: Path
    name: Name
    children: list[str]
    uses: list[Name] = field(default_factory=list)
    re_exports: dict[str, Name] = field(default_factory=dict)


def blank(text: str, begin: int, end: int) -> str:
    """Overwrite a range with spaces, so that places stay."""
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def closing(text: str, opening: int) -> int:
    """The place behind the brace that closes the one at ``opening``."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def code_of(text: str) -> str:
    """The text without comments, literals and what only tests see."""
    text = TOKENS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    while (test := TEST_ITEM.search(text)) is not None:
        last = test.end() - 1
        end = closing(text, last) if text[last] == "{" else test.end()
        text = blank(text, test.start(), end)
    return text


def expanded(tree: str) -> Iterator[tuple[Name, str]]:
    """Every path of a use tree, with the name it is given here."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        segments = tuple(part.strip() for part in path.split("::"))
        yield segments, alias.strip() or segments[-1]
        return
    prefix = tuple(part.strip() for part in head.split("::") if part.strip())
    depth, begin, inner = 0, 0, rest[: rest.rindex("}")]
    for place, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if inner[begin:place].strip():
                for inside, alias in expanded(inner[begin:place]):
                    itself = inside == ("self",)
                    yield (prefix, prefix[-1]) if itself else (prefix + inside, alias)
            begin = place + 1


def absolute(path: Name, module: Module, depth: int) -> Name | None:
    """A written path below the crate's root; None if it leads to another crate or a local name.

    ``depth`` is how many inline modules of the file the path stands in.
    """
    first, rest = path[0], path[1:]
    if first == "crate":
        return rest
    if first in ("self", "super"):
        here: Name = (*module.name, *("",) * depth)
        here = here[:-1] if first == "super" else here
        while rest and rest[0] == "super":
            here, rest = here[:-1], rest[1:]
        return tuple(part for part in here if part) + rest
    if first in module.children and depth == 0:
        return module.name + path
    return None


def read_module(file: Path, name: Name) -> Module:
    """One file with the paths in it."""
    code = code_of(file.read_text())
    module = Module(file, name, CHILD.findall(code))
    inline = [
        (found.end() - 1, closing(code, found.end() - 1)) for found in INLINE_MODULE.finditer(code)
    ]

    def depth(place: int) -> int:
        return sum(begin < place < end for begin, end in inline)

    for found in USE.finditer(code):
        for path, alias in expanded(found[2]):
            target = absolute(path, module, depth(found.start()))
            if target is None:
                continue
            if found[1] and target[:-1] != name:
                module.re_exports[alias] = target
            else:
                module.uses.append(target)
    bare = USE.sub(lambda found: " " * len(found[0]), code)
    for found in PATH.finditer(bare):
        target = absolute(tuple(found[0].split("::")), module, depth(found.start()))
        if target is not None:
            module.uses.append(target)
    return module


def modules_of(root: Path) -> dict[Name, Module]:
    """The modules that a crate's root file declares, and theirs."""
    modules: dict[Name, Module] = {}
    waiting: list[tuple[Path, Path, Name]] = [(root, root.parent, ())]
    while waiting:
        file, folder, name = waiting.pop()
        modules[name] = read_module(file, name)
        for child in modules[name].children:
            plain = folder / f"{child}.rs"
            path = plain if plain.exists() else folder / child / "mod.rs"
            waiting.append((path, folder / child, (*name, child)))
    return modules


def owner(target: Name, modules: dict[Name, Module]) -> Name:
    """The module that defines what a path names, re-exports followed."""
    for _ in range(len(modules) + 1):
        length = max(n for n in range(len(target) + 1) if target[:n] in modules)
        module, rest = modules[target[:length]], target[length:]
        if not rest or rest[0] not in module.re_exports:
            return module.name
        target = module.re_exports[rest[0]] + rest[1:]
    return target


def edges_of(modules: dict[Name, Module]) -> dict[Name, set[Name]]:
    """Which modules each depends on."""
    return {
        name: {owner(target, modules) for target in module.uses} - {name}
        for name, module in modules.items()
    }


def circles(edges: dict[Name, set[Name]]) -> list[list[Name]]:
    """Groups of modules each of which reaches every other."""
    reach: dict[Name, set[Name]] = {}
    for start, nearest in edges.items():
        seen: set[Name] = set()
        waiting = list(nearest)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(edges[name])
        reach[start] = seen
    groups = {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in edges
        if name in reach[name]
    }
    return sorted(sorted(group) for group in groups)


def shown(name: Name) -> str:
    """A module's name; the root is `crate`."""
    return "::".join(name) or "crate"


def main(arguments: list[str]) -> int:
    """Check the crates that are named, or all; the exit code."""
    top = Path(__file__).resolve().parents[1]
    members = tomllib.loads((top / "Cargo.toml").read_text())["workspace"]["members"]
    named = [argument.rstrip("/") for argument in arguments if not argument.startswith("-")]
    found = 0
    for member in named or members:
        source = top / member / "src"
        root = next(path for path in (source / "lib.rs", source / "main.rs") if path.exists())
        modules = modules_of(root)
        edges = edges_of(modules)
        if "--edges" in arguments:
            for name in sorted(edges):
                print(f"{member}: {shown(name)} -> {', '.join(map(shown, sorted(edges[name])))}")
        for group in circles(edges):
            found += 1
            print(f"{member}: a circle of {len(group)} modules")
            for name in group:
                inside = sorted(edges[name].intersection(group))
                print(
                    f"  {modules[name].file.relative_to(top)} uses {', '.join(map(shown, inside))}"
                )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
