"""docs/methods/locate.md and the schema against the constants and columns of the code."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

from iosonde.bench.locate import (
    clients,
    covariates,
    dips,
    files,
    generations,
    hypotheses,
    scatter,
    search,
)
from iosonde.bench.locate import locate as located
from iosonde.bench.locate.hypotheses import penalty
from iosonde.bench.locate.robust import FEW, HUBER
from iosonde.bench.locate.tree import FEWEST, LEAST_TRANSFERS
from iosonde.bench.locate.uneven import LEAST_GROUPS
from iosonde.connectors.darshan import log_transfers, on_lustre
from iosonde.ingest.log_transfers import MOST_LOGS
from iosonde.model.transfers import BIN_NS, DIRECTIONS, LEVELS, BinnedRates, Transfers

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join((ROOT / "docs/methods/locate.md").read_text().split())
USERS = " ".join((ROOT / "docs/locate.md").read_text().split())


def test_files_and_clients_in_prose_are_those_in_code() -> None:
    assert f"clipped at {HUBER:g} standard deviations" in PAGE
    assert f"more than {located.WIDE * 100:g}% of the OSTs nothing" in PAGE
    assert f"slope is {covariates.SPOILED:g} times as uncertain" in PAGE
    assert f"is below {clients.FALSE_HOSTS:g}, it takes {clients.LEAST_EFFECT * 100:.0f}%" in PAGE
    assert f"{clients.CONSISTENT * 100:g}% of its files show a third" in PAGE


def test_the_search_in_prose_is_that_in_code() -> None:
    assert f"all at least {hypotheses.LEAST:g}" in PAGE
    near, odd = hypotheses.NEAR, hypotheses.ODD
    assert f"A pair more than {near:g} from ln 2" in PAGE
    assert f"differ by more than {near:g}, lose {odd:g}" in PAGE
    assert f"at most {search.MOST} ({search.MOST_ALONE} OSTs" in PAGE
    assert f"while a score is above -{hypotheses.ROOM:g}" in PAGE
    chance = search.CHANCE
    assert (
        f"all are below {chance['ost']:g} (router groups, which are few: {chance['group']:g})"
        in PAGE
    )
    assert f"if {located.PERSISTENT * 100:g}% of the repetitions" in PAGE
    assert f"within {search.GAP:g} are named" in PAGE
    assert penalty(1, 192) > 19
    assert f"fewer than {scatter.MANY} components" in PAGE
    assert f"prior of {scatter.PRIOR:g} that counts as {scatter.PRIOR_DF:g} components" in PAGE
    assert f"An OST with fewer than {LEAST_TRANSFERS} transfers in a direction" in PAGE
    assert f"of fewer than {LEAST_GROUPS} a few percent" in PAGE


def test_generations_and_dips_in_prose_are_those_in_code() -> None:
    is_ = generations
    assert f"{is_.APART:g} standard deviations apart, at least {is_.LEAST_SHARE * 100:g}%" in PAGE
    assert f"(and {is_.LEAST_TARGETS}) in the smaller, with {is_.VALLEY * 100:g} % between" in PAGE
    assert f"Where {is_.OF_ONE_KIND * 100:g}% of the failover pairs" in PAGE
    assert f"windows of {dips.LENGTHS[0]} to {dips.LENGTHS[-1]} bins of {BIN_NS / 1e9:g} s" in PAGE
    assert f"{dips.DROP * 100:g} % below the median at least" in PAGE
    assert f"Student's t ({dips.MOST_FREEDOM:g} degrees of freedom at most)" in PAGE
    assert f"own where that is {dips.RESTLESS:g} times as wide" in PAGE
    assert f"A dip has a chance below {dips.CHANCE:g}" in PAGE


def test_few_targets_and_logs_in_prose_are_those_in_code() -> None:
    assert f"Of fewer than {FEW} OSTs nothing is fitted" in PAGE
    assert f"prior: {scatter.FEW_PRIOR:g}, which counts as {scatter.FEW_DF:g} OST" in PAGE
    assert FEWEST == 4
    assert "four are the fewest" in USERS
    assert f"and at least {on_lustre.LEAST_BYTES >> 20} MiB" in USERS
    assert f"of up to {MOST_LOGS} logs at once" in USERS
    assert f"`{log_transfers.PREFIX}<job>-<program>-<begin>`" in USERS


def test_the_schema_has_the_columns_that_are_read() -> None:
    def schema(name: str) -> dict[str, dict[str, object]]:
        table = tomllib.loads((ROOT / f"schema/tables/{name}.toml").read_text())
        return {column["name"]: column for column in table["column"]}

    transfers, rates = schema("transfers"), schema("rates")
    assert transfers["direction"]["values"] == list(DIRECTIONS)
    needed = {name for name, column in transfers.items() if not column.get("nullable")}
    assert needed == set(files.NEEDED)
    own = {field.name for field in fields(Transfers)}
    assert set(transfers) - {"run_id", "targets"} <= own
    assert {field.name for field in fields(BinnedRates)} - {"bin_ns"} == set(rates) - {"run_id"}
    for level in LEVELS:
        assert f"| `{level}` |" in USERS
