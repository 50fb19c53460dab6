"""What people read: one number format, and no idiom that hides who does what. The strings of src are walked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from iosonde.model.units import format_count, format_percent

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "iosonde").rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NUMBERS = {
    "a blank before the percent sign": re.compile(r"[0-9}] %(?![0-9a-zA-Z(])"),
    "a thin space": re.compile("[0-9}][\u2009\u202f][0-9{]|,\u2009"),
}
IDIOMS = re.compile(
    r"of none of the|is known of|too little is known|nothing is known|nothing is watched|is told|it is taken as"
    r"|what is held|would not have been called|so many questions|nobody looked|was asked for"
    r"|no job is like|is meant\?|how many times as long each|nothing known"
)
"""Wordings that were rewritten."""


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every constant that is no docstring; a value in an f-string reads ``{}``."""
    tree = ast.parse(source)
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    pieces: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces |= {id(part) for part in node.values}
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in docs | pieces:
            yield node.lineno, str(node.value)


def offences(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {text[:100]}"
        for path in SOURCES
        for line, text in strings(path.read_text())
        if pattern.search(text)
    ]


@pytest.mark.parametrize("name", NUMBERS)
def test_one_format_of_numbers(name: str) -> None:
    assert not offences(NUMBERS[name])


def test_no_idiom_that_hides_who_does_what() -> None:
    assert not offences(IDIOMS)


def test_pages_write_numbers_as_the_commands_do() -> None:
    wrong = re.compile(r"[0-9] %(?=[\s.,;:)|`]|$)|(?<![\d:.-])\b[0-9]{1,3} 000\b", re.MULTILINE)
    found = [f"{p.name}: {m[0]}" for p in PAGES for m in wrong.finditer(p.read_text())]
    assert not found


def test_the_walk_finds_what_it_must() -> None:
    source = '"""a 1 % docstring"""\nx = f"{share} % of it"\ny = "nothing is known of it"\n'
    found = list(strings(source))
    assert found == [(2, "{} % of it"), (3, "nothing is known of it")]
    assert NUMBERS["a blank before the percent sign"].search(found[0][1])
    assert IDIOMS.search(found[1][1])


def test_the_formats() -> None:
    assert format_count(69441) == "69,441"
    assert format_count(2008.25, 1) == "2,008.2"
    assert format_percent(0.71) == "71%"
