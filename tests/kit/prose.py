"""Text of the documentation, and constants of Rust that it names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Rust:
    """Public constants of three crates as attributes."""

    def __getattr__(self, name: str) -> float:
        return public()[name]


@cache
def public() -> dict[str, float]:
    crates = [ROOT / "rust" / crate / "src" for crate in ("core", "probe", "bench")]
    text = "".join(path.read_text() for crate in crates for path in crate.rglob("*.rs"))
    found = re.findall(r"pub const ([A-Z_]+): [a-z0-9]+ = ([0-9_.]+);", text)
    return {name: float(value.replace("_", "")) for name, value in found}


def const(files: str, name: str) -> Any:
    """Any constant of the Rust files that match."""
    text = "".join(path.read_text() for path in (ROOT / "rust").glob(f"*/src/{files}"))
    found = re.search(rf"const {name}: [a-z0-9]+ = ([\d_. *<]+);", text)
    assert found, f"{name} is not in {files}"
    return eval(found[1].replace("_", ""))


def in_plan(key: str, value: str) -> bool:
    """Whether the plan of a target takes this value where the configuration has none."""
    return (
        f"probe.{key}).unwrap_or({value})" in (ROOT / "rust/probe/src/config/plan.rs").read_text()
    )


@cache
def prose(page: str) -> str:
    return " ".join((ROOT / "docs" / page).read_text().split())


def snippets(page: str, language: str) -> list[str]:
    """Blocks of code of a page."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.S)


def table_words(text: str, pattern: str) -> set[str]:
    """Words, separated by commas, of the cells that match."""
    return {word for cell in re.findall(pattern, text) for word in cell.split(", ")}
