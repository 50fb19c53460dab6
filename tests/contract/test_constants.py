"""Numbers in the documentation against the constants of the code, a line each of constants.txt."""

from __future__ import annotations

import math
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from iosonde import _core
from tests.kit.prose import Rust, const, in_plan, prose


def names_of(page: str) -> dict[str, Any]:
    """Modules by the short names of a page's section, and what all sections may use."""
    modules = {
        name: import_module(f"iosonde.{module}") for name, module in SECTIONS[page][0].items()
    }
    fixed = {"rust": Rust(), "const": const, "in_plan": in_plan, "core": _core, "math": math}
    return fixed | modules


def sections() -> dict[str, tuple[dict[str, str], list[str]]]:
    """Short names and lines of each page."""
    found: dict[str, tuple[dict[str, str], list[str]]] = {}
    for line in (Path(__file__).parent / "constants.txt").read_text().splitlines():
        if head := re.match(r"\[(.+?)\](.*)", line):
            page = head[1]
            found[page] = (dict(one.split("=") for one in head[2].split()), [])
        elif line and not line.startswith("#"):
            found[page][1].append(line)
    return found


SECTIONS = sections()
LINES = [(page, line) for page, (_, lines) in SECTIONS.items() for line in lines]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_prose_has_the_constants_of_the_code(page, line):
    text, _, condition = line.partition(" ;; ")
    names = names_of(page)
    said = eval(f"f'''{text}'''", names)
    number = r"(?!\d)" if said[-1:].isdigit() else ""
    assert re.search(re.escape(said) + number, prose(page)), said
    assert not condition or eval(condition, names), condition


@pytest.mark.parametrize("line", ["{2 + 2} lines and frames", "lines and frames ;; 1 == 2"])
def test_a_wrong_constant_is_seen(line):
    with pytest.raises(AssertionError):
        test_prose_has_the_constants_of_the_code("store.md", line)
