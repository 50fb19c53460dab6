"""docs/methods/queue.md and docs/simulate.md against the constants and fields of the code."""

from __future__ import annotations

import tomllib
from pathlib import Path

from iosonde.cli.queue.simulate import ROWS
from iosonde.queue import fit, measured, scenario, stationary
from iosonde.queue.scenario_file import Place, scenario_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join((ROOT / "docs/methods/queue.md").read_text().split())
USERS = (ROOT / "docs/simulate.md").read_text()


def test_numbers_of_the_fit_in_prose_are_those_in_code() -> None:
    assert (
        f"at most {measured.GROUPS} groups by load, of at least {measured.LEAST_READS} reads"
        in PAGE
    )
    quantiles = ", ".join(f"{q * 100:g}" for q in measured.QUANTILES[:-1])
    assert f"the {quantiles} and {measured.QUANTILES[-1] * 100:g} % quantiles" in PAGE
    assert f"(from {measured.BLOCKS} blocks" in PAGE
    assert f"counts as an error of {measured.FLOOR * 100:g}%" in PAGE
    assert f"Then {fit.REPLICATES} simulations" in PAGE
    assert f"{fit.REFUSED:g} times the largest distance" in PAGE
    assert f"plus {fit.SLACK:g}." in PAGE
    assert f"steps of N/{stationary.STEPS}" in PAGE
    least = f"at least {measured.LEAST_GROUPS} groups of {measured.LEAST_READS} reads"
    assert least in USERS


def test_the_file_of_the_page_is_a_scenario() -> None:
    text = USERS.split("```toml\n")[1].split("```")[0]
    made = scenario_of(tomllib.loads(text), Place("simulate.md", text))
    assert made.storage.cache is not None
    assert made.sweep is not None
    for word in (
        *scenario.SERVICES,
        *scenario.DISCIPLINES,
        *scenario.ORDERS,
        *scenario.TIMES,
        *ROWS,
    ):
        assert word in USERS
    assert f"a {scenario.BINS}th of the time" in USERS
    assert f"{scenario.MOST_RECORDS:,}" in USERS


def test_symbols_are_fields() -> None:
    for field in ("service_ticks", "queue", "servers"):
        assert field in scenario.Storage.__dataclass_fields__
        assert f"`{field}`" in PAGE
    assert "pattern" in scenario.Process.__dataclass_fields__
    assert "base_s" in fit.Model.__dataclass_fields__
