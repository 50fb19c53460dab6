"""Names, tables and examples of pages against the code; numbers are in constants.txt."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

from iosonde.bench.locate.files import NEEDED
from iosonde.cli.queue.simulate import ROWS
from iosonde.model.transfers import BIN_NS, DIRECTIONS, LEVELS, BinnedRates, Transfers
from iosonde.queue import scenario
from iosonde.queue.scenario_file import Place, scenario_of
from iosonde.serve.params import TargetsQuery
from iosonde.serve.status.query import LONGEST_NS
from iosonde.serve.targets import MOST_WHOLE
from iosonde.weather.fleet import shapes
from iosonde.why.data import NAMES
from iosonde.why.decide import RULES
from tests.kit.prose import ROOT, prose, snippets, table_words

OWNERS = {
    "methods/adaptive.md": {
        "Rates": "bench.adaptive.rates.Rates",
        "Network": "queue.closed_network.Network",
        "Capacity": "queue.capacity.Capacity",
        "LimitVerdict": "bench.adaptive.verdict.LimitVerdict",
    },
    "methods/umami.md": {
        "Stood": "jobs.umami.quartile.Stood",
        "LocalLosses": "jobs.explain.neighbour_loss.LocalLosses",
        "Associations": "stats.association.Associations",
        "Regimes": "stats.regime_search.Regimes",
        "Shifts": "stats.change_points.ChangePoints",
    },
}
"""Classes by the word before the dot in symbols of a page, like `Rates.level`."""
FIELDS = {
    "queue.scenario.Storage": ("service_ticks", "queue", "servers"),
    "queue.scenario.Process": ("pattern",),
    "queue.fitted_model.Model": ("base_s",),
}
"""Fields that docs/methods/queue.md explains."""


def named(dotted: str) -> type:
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(f"iosonde.{module}"), name)


@pytest.mark.parametrize("page", OWNERS)
def test_symbols_are_names_in_code(page):
    found = re.findall(rf"`({'|'.join(OWNERS[page])})\.(\w+)`", prose(page))
    assert {owner for owner, _ in found} == set(OWNERS[page])
    assert len(found) >= 5
    for owner, name in found:
        of = named(OWNERS[page][owner])
        assert is_dataclass(of)
        assert name in of.__dataclass_fields__ or hasattr(of, name), f"{owner}.{name}"


@pytest.mark.parametrize("owner", FIELDS)
def test_symbols_of_the_queue_are_fields(owner):
    for name in FIELDS[owner]:
        assert name in named(owner).__dataclass_fields__
        assert owner.endswith(("Process", "Model")) or f"`{name}`" in prose("methods/queue.md")


@pytest.mark.parametrize(("command", "least"), [("blame", 4), ("why", 5)])
def test_examples_of_a_command_are_understood(command, least):
    text = (ROOT / "docs" / f"{command}.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith(f"iosonde {command}")]
    assert len(lines) >= least
    for line in lines:
        import_module(f"iosonde.cli.attribution.{command}")._parse(line.split("#")[0].split()[2:])


def test_every_shape_of_a_fleet_is_in_the_table():
    text = prose("methods/fleet.md")
    told = table_words(text, r"\| ([a-z, ]+) \| (?:one|all|several|-)")
    assert told | {"undecided", "few hosts"} == {str(shape) for shape in shapes.FleetShape}
    for number in (number for pair in shapes._TAILS for number in pair):
        assert f"{number:g}" in text


def test_every_link_and_verdict_of_why_has_its_row():
    for name in NAMES:
        assert f"| {name} |" in prose("why.md")
    places = [prose("methods/why.md").index(f"| {kind} |") for kind, _ in RULES]
    assert places == sorted(places), "the rule is read from the top"
    for kind, _ in RULES:
        assert f"| {kind} |" in prose("why.md")


def test_the_schema_has_the_columns_that_locate_reads():
    def schema(name: str) -> dict[str, dict[str, object]]:
        table = tomllib.loads((ROOT / f"schema/tables/{name}.toml").read_text())
        return {column["name"]: column for column in table["column"]}

    transfers, rates = schema("transfers"), schema("rates")
    assert transfers["direction"]["values"] == list(DIRECTIONS)
    needed = {name for name, column in transfers.items() if not column.get("nullable")}
    assert needed == set(NEEDED)
    own = {field.name for field in fields(Transfers)}
    assert set(transfers) - {"run_id", "targets"} <= own
    assert {field.name for field in fields(BinnedRates)} - {"bin_ns"} == set(rates) - {"run_id"}
    assert BIN_NS > 0
    for level in LEVELS:
        assert f"| `{level}` |" in prose("locate.md")


def test_the_limits_of_the_page_are_those_of_its_code():
    events = (ROOT / "web/pages/weather/events_beside.ts").read_text()
    most = re.search(r"MOST = (\d+);", events)
    longest = re.search(r"LONGEST = hours\(24 \* (\d+)\);", events)
    assert most
    assert longest
    assert f"at most the last {most[1]} of {longest[1]} days" in prose("page.md")
    assert int(longest[1]) * 86_400 * 10**9 < LONGEST_NS, "the server refuses a longer range"
    assert f"more than {MOST_WHOLE} targets" in TargetsQuery.model_fields["brief"].description


def test_the_file_of_the_page_is_a_scenario():
    text = snippets("simulate.md", "toml")[0]
    made = scenario_of(tomllib.loads(text), Place("simulate.md", text))
    assert made.storage.cache is not None
    assert made.sweep is not None
    words = (*scenario.SERVICES, *scenario.DISCIPLINES, *scenario.ORDERS, *scenario.TIMES, *ROWS)
    for word in words:
        assert word in prose("simulate.md")
