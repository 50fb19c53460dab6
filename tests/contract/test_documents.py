"""The contract in schema/ against the documents and the code that must agree with it."""

import re
import tomllib
from pathlib import Path

import pytest

from iosonde import _core
from iosonde.bench.adaptive import adaptive as runs_waiting
from iosonde.bench.adaptive import rates as waiting_rates
from iosonde.bench.adaptive import verdict as waiting
from iosonde.model import ops
from iosonde.model.units import format_waiting_factor
from iosonde.queue import capacity, closed_network
from iosonde.stats import t_interval
from iosonde.weather.events import recurrence_test as recurrence
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events import slow_intervals as spells
from iosonde.weather.events.pieces import alarms, hangs, harmless, judged

ROOT = Path(__file__).resolve().parents[2]


def schema(path: str) -> dict[str, object]:
    return tomllib.loads((ROOT / "schema" / path).read_text())


def rust_constants() -> dict[str, float]:
    crates = [ROOT / "rust" / crate / "src" for crate in ("core", "probe", "bench")]
    text = "".join(path.read_text() for crate in crates for path in crate.rglob("*.rs"))
    found = re.findall(r"pub const ([A-Z_]+): [a-z0-9]+ = ([0-9_.]+);", text)
    return {name: float(value.replace("_", "")) for name, value in found}


def test_ops_and_caches_are_those_of_the_schema() -> None:
    columns = {column["name"]: column for column in schema("tables/samples.toml")["column"]}
    assert columns["op"]["values"] == _core.OPS
    assert columns["cache"]["values"] == _core.CACHES


@pytest.mark.parametrize("metric", schema("metrics/agent.toml")["metric"], ids=lambda m: m["name"])
def test_metrics_are_named_by_convention_and_documented(metric: dict[str, object]) -> None:
    name, kind = str(metric["name"]), metric["kind"]
    assert re.fullmatch(r"(iosonde|process)_[a-z_]+", name)
    assert name.endswith("_total") == (kind == "counter")
    row = f"| `{name}` ({kind}) | {metric['description']} |"
    assert row in (ROOT / "docs/agent.md").read_text()


def test_constants_in_prose_are_those_in_code() -> None:
    constants = rust_constants()
    slowdown = (ROOT / "docs/methods/slowdown.md").read_text()
    probe = (ROOT / "docs/methods/probe.md").read_text()
    agent = (ROOT / "docs/agent.md").read_text()
    assert f"`s >= {constants['SLOW_FROM']:g}`" in slowdown
    assert f"interval `>= {constants['SLOW_LOWER']:g}`" in slowdown
    assert f"a log of at most {constants['LOG_BYTES'] / 1024:g} KiB an op" in slowdown
    hung = f"{constants['HUNG_NS'] / 1e9:g} s, {constants['HUNG_PERIODS']:g} periods and"
    assert f"{hung} {constants['HUNG_BASELINES']:g} baselines" in slowdown
    assert f"the last {constants['FAILING_FROM']:g} operations failed" in slowdown
    assert f"once there are {constants['MINIMUM_WINDOWS']:g} of them" in slowdown
    assert f"median lateness is above {constants['LATE_NS'] / 1e6:g} ms" in probe
    assert constants["HOST_SHARE"] == 0.5
    assert "more than half of the slowdown above 1" in probe
    assert f"made {constants['OVER_MEMORY_PERCENT']:g}% of memory" in probe
    assert f"{int(constants['BACKLOG_ROWS']):,}" + " of them" in agent


def said(page: str) -> str:
    return " ".join((ROOT / "docs/methods" / page).read_text().split())


def test_the_baseline_in_prose_is_that_in_code() -> None:
    is_ = rust_constants()
    page = said("slowdown.md")
    limits = (is_["FLAG_TYP"], is_["FLAG_TAIL"], is_["FLAG_LOST"])
    assert "`typ > {:g}`, `tail > {:g}` or `lost > {:g}`".format(*limits) in page
    assert f"unflagged intervals of the last {is_['HORIZON_DAYS']:g} days" in page
    stages = ("EARLY", "PROVISIONAL", "RELIABLE")
    assert all(f"{is_[f'{stage}_INTERVALS']:g} intervals" in page for stage in stages)
    first = f"{is_['FIRST_QUANTILE']:g} quantile of each level over the intervals"
    assert f"{first}, what exceeds {is_['FIRST_FLAG_TYP']:g} times" in page
    factor = f"{is_['EPOCH_FACTOR']:g}"
    assert (
        f"{is_['FASTER_DAYS']:g} days in a row whose upper quartile of `typ` is below 1/{factor}"
        in page
    )
    assert f"{is_['SLOWER_DAYS']:g} days whose lower quartile is above {factor}" in page
    assert f"more than {is_['EPOCH_FLAGGED']:g} of the intervals" in page
    nearly = f"{is_['SLOWER_MISSES']:g} of the fourteen may only be above {is_['NEARLY_FACTOR']:g}"
    assert nearly in page
    assert f"below {is_['TAIL_COUNT']:g} rows that of the 0.90 quantile" in page
    assert is_["LATE_SHARE"] == 10
    assert "by more than a tenth of a period" in page
    assert f"buckets `({is_['GAMMA']:g}^(b-1), {is_['GAMMA']:g}^b]` ns" in page


def test_alarms_in_prose_are_those_in_code() -> None:
    is_ = rust_constants()
    page = said("alarms.md")
    assert f"looked at every {is_['TICK_NS'] / 1e9:g} s" in page
    look = f"over the last {is_['LOOK_NS'] / 1e9:g} s ({is_['ALARM_TYP_BIMODAL']:g} where"
    assert f"`typ >= {is_['ALARM_TYP']:g}` {look}" in page
    clear = f"`typ < {is_['CLEAR_TYP']:g}` (or `typ < t`), `tail < {is_['CLEAR_TAIL']:g}`"
    assert f"after {is_['CLEAR_NS'] / 1e9:g} s in which {clear}" in page
    assert f"every S is below {is_['CLEAR_SUM']:g} H" in page
    assert f"ln typ >= ln t + {is_['TYP_ERRORS']:g} max(s, e)" in page
    assert f"{is_['ALARM_LOST']:g} plus {is_['LOST_TIMES']:g} times the usual one" in page
    assert f"the exponent {is_['CLUSTERS']:g}" in page
    assert f"last {is_['DAYS']:g} days `p_k` is the median times {is_['SPREAD']:g} standard" in page
    assert f"Until {is_['LEAST_INTERVALS']:g} intervals" in page
    assert f"Until {is_['ENOUGH_DAYS']:g} days are known" in page
    assert f"count {is_['UNKNOWN']:g} times" in page
    code = (ROOT / "rust/core/src/slowdown/rules.rs").read_text()
    rules = re.findall(
        r"Cause::(\w+), level: ([\d.]+), least: ([\d.]+), p0: ([\d.]+), p1: ([\d.]+), limit: ([\d.]+)",
        code,
    )
    assert len(rules) == 3
    for cause, level, *numbers in rules:
        row = re.search(
            rf"\| \*\*{cause.lower()}\*\* \| `Q_exp\(([\d.]+)\)`, at least ([\d.]+) m "
            rf"\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) D\^{is_['CLUSTERS']:g} \|",
            page,
        )
        assert row is not None
        assert list(map(float, row.groups())) == [float(level), *map(float, numbers)]


def test_events_in_prose_are_those_in_code() -> None:
    page, rule = said("events.md"), spells.RULE
    hot = f"`typ >= {rule.hot_typ:g}`, `tail >= {rule.hot_tail:g}` or `lost >= {rule.hot_lost:g}`"
    assert f"begins with {rule.hot_windows} windows in a row of {hot}" in page
    assert f"ends with {rule.quiet_windows} windows in a row of `typ < {rule.quiet_typ:g}`" in page
    assert f"Spells at most {rule.merged_windows} windows apart" in page
    above, most = f"{harmless.ABOVE_ORDINARY:g}", f"{harmless.ORDINARY:g}"
    assert f"below {above} times that of a busy but ordinary ten minutes" in page
    assert f"at most {most}), and neither tail nor loss" in page
    assert f"{recurrence.PERMUTATIONS} random turns" in page
    assert f"p <= {recurrence.SIGNIFICANT:g}" in page
    assert f"at least {recurrence.OFTEN:g} of them" in page
    assert f"slow in {recurrence.MOSTLY:g} of the periods" in page
    assert f"at least {scope.ENOUGH_HOSTS} hosts" in page
    assert f"at least {judged.FEWEST} operations a minute" in page
    assert f"log likelihood ratio is at least {alarms.LEAST_SCORE:g}" in page
    patience = f"longer than {hangs.HANG_NS / 1e9:g} s, {hangs.HANG_PERIODS} periods"
    usual = f"{hangs.HANG_MEDIANS} usual medians and {hangs.HANG_SLOWEST} usual 0.99 quantiles"
    assert f"{patience}, {usual}" in page


def test_adaptive_mode_in_prose_is_that_in_code() -> None:
    page = said("adaptive.md")
    levels = ", ".join(format_waiting_factor(level) for level in waiting_rates.LEVELS)
    assert f"for `T` = {levels}, in random order" in page
    margin, alone = f"{waiting.MARGIN:g}", f"a test that is wrong in {waiting.DIP_ERROR:.0%}"
    assert f"the ratio `X(T) / X(0)` is above {margin} and its interval above 1" in page
    assert f"below 1/{margin}, by {alone} of runs" in page
    assert f"lies within 1/{margin} to {margin}, no ratio in between" in page
    assert f"fewer than {waiting.FEWEST} measurements" in page
    assert f"if {waiting.MOST} in all would not" in page
    assert f"A second look after {waiting.EXTENDED} measurements" in page
    assert f"Student's, of {t_interval.CONFIDENCE:.0%}" in page
    assert f"a standard deviation of at least {t_interval.SD_FLOOR:g}" in page
    assert f"| flat | ratio below {capacity.FLAT:g} |" in page
    assert f"fitted `N*` below {capacity.EDGE:g} `N / (1 + T)`" in page
    assert f"ratio above {capacity.STEEP:g} `(1 + T)`" in page
    off = {name: f"{100 * error:g}%" for name, error in capacity.MODEL_ERROR.items()}
    assert off["unloaded_s"] == off["saturating_clients"]
    assert f"of {off['max_per_s']} (`X_max`) and {off['unloaded_s']} (`R0`, `N*`)" in page
    assert f"use {100 * runs_waiting.BUSY_CPU:g}% of them or more" in page
    assert f"off by more than a factor {waiting_rates.OFF_NOMINAL:g} is named" in page
    assert f"From {100 * runs_waiting.FAILED:g}% on they are named" in page


def test_symbols_of_adaptive_mode_are_names_in_code() -> None:
    owners = {
        "Rates": waiting_rates.Rates,
        "Network": closed_network.Network,
        "Capacity": capacity.Capacity,
        "LimitVerdict": waiting.LimitVerdict,
    }
    named = re.findall(r"`(Rates|Network|Capacity|LimitVerdict)\.(\w+)`", said("adaptive.md"))
    assert len(named) >= 8
    for owner, name in named:
        fields = owners[owner].__dataclass_fields__
        assert name in fields or hasattr(owners[owner], name), f"{owner}.{name}"


def test_thresholds_that_python_shows_are_those_of_the_core() -> None:
    constants = rust_constants()
    assert (constants["SLOW_FROM"], constants["SLOW_LOWER"]) == (ops.SLOW_AT, ops.SLOW_LOWER_AT)
    assert constants["MINIMUM_WINDOWS"] == _core.BASELINE_WINDOWS


def test_minimum_counts_in_prose_are_those_in_code() -> None:
    page = (ROOT / "docs/methods/slowdown.md").read_text()
    counts = [_core.minimum_count(q) for q in (0.5, 0.75, 0.9, 0.95, 0.99)]
    assert f"| smallest n | {' | '.join(map(str, counts))} |" in page


def test_every_dependency_has_its_reason() -> None:
    reasons = (ROOT / "ARCHITECTURE.md").read_text()
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    rust = set()
    for crate in ("core", "ask", "probe", "nfs", "bench", "queue", "agent", "python"):
        manifest = tomllib.loads((ROOT / f"rust/{crate}/Cargo.toml").read_text())
        rust |= {name for name in manifest["dependencies"] if not name.startswith("iosonde-")}
    named = {re.split(r"[<>=\[]", line)[0] for line in python} | rust
    missing = {name for name in named if not re.search(rf"\b{re.escape(name)}\b", reasons)}
    assert not missing


def test_layers_of_the_crates() -> None:
    allowed = {
        "core": [],
        "probe": ["core", "nfs"],
        "nfs": ["core"],
        "bench": ["core", "nfs"],
        "bucket": [],
        "queue": ["core"],
        "agent": ["ask", "core", "probe"],
        "ask": ["core"],
        "python": ["ask", "bench", "bucket", "core", "nfs", "probe", "queue"],
    }
    for crate, below in allowed.items():
        manifest = tomllib.loads((ROOT / f"rust/{crate}/Cargo.toml").read_text())
        ours = [name for name in manifest["dependencies"] if name.startswith("iosonde")]
        assert ours == [f"iosonde-{name}" for name in below], crate


def test_examples_of_configuration_are_accepted() -> None:
    page = (ROOT / "docs/agent.md").read_text()
    example = tomllib.loads(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    import json

    _core.Probe(json.dumps(example))


def private_constant(file: str, name: str) -> float:
    (path,) = (ROOT / "rust").glob(f"*/src/{file}")
    found = re.search(rf"const {name}: [a-z0-9]+ = ([0-9_.]+);", path.read_text())
    assert found, f"{name} is not in {file}"
    return float(found[1].replace("_", ""))


def test_constants_of_hangs_in_prose_are_those_in_code() -> None:
    page = " ".join((ROOT / "docs/methods/hang.md").read_text().split())
    plan = (ROOT / "rust/probe/src/config/plan.rs").read_text()
    for key, seconds in (("deadline", 5), ("retry", 5), ("retry_max", 300)):
        assert f"probe.{key}).unwrap_or({seconds}_000_000_000)" in plan
    assert "`deadline` (5 s)" in page
    assert "`retry` (5 s)" in page
    assert "`retry_max` is 5 min" in page
    assert "probe.replacements).unwrap_or(3)" in plan
    assert "`replacements` (3)" in page
    assert f"up to {private_constant('probe/lane.rs', 'LIMBO'):g} ticks behind it" in page
    failures = private_constant("probe/watch/mod.rs", "FAILURES")
    assert f"every op fails {failures:g} times in a row" in page
    every = private_constant("probe/watch/mod.rs", "GOVERN_NS") / 1e9
    assert f"measured every {every:g} s" in page
    assert f"at most {private_constant('probe/governor.rs', 'MOST'):g} is worked on" in page
    assert private_constant("probe/governor.rs", "MISSED_SHARE") == 0.25
    assert "more than a quarter of the ticks" in page
    assert private_constant("probe/governor.rs", "GOOD_INTERVALS") == 3
    assert "three good intervals" in page


def test_constants_of_the_metadata_benchmark_in_prose_are_those_in_code() -> None:
    from iosonde.bench.metadata.spec import DEFAULTS
    from iosonde.bench.runtime import rank_group
    from iosonde.bench.runtime.op_tally import LEAST_COUNT
    from iosonde.cli.bench.options import parse

    page = " ".join((ROOT / "docs/bench-metadata.md").read_text().split())
    args = parse(["/work"])
    letters = {
        "D": DEFAULTS["data_sets"],
        "P": DEFAULTS["objects"],
        "S": DEFAULTS["size_bytes"],
        "I": DEFAULTS["iterations"],
        "O": args.offset,
        "T": f"{args.waiting:g}",
    }
    for letter, value in letters.items():
        row = re.search(rf"\| {letter} \| [^|]* \| [^|]* \| (\d+) \|", page)
        assert row, letter
        assert row[1] == str(value), letter
    assert f"after {args.max_errors} failures in a row" in page
    assert rust_constants()["GIVE_UP_NS"] == 60e9
    assert "a minute of nothing but failures" in page
    assert f"given up after {rank_group.PATIENCE_S:g} s" in page
    assert f"q90 needs {LEAST_COUNT['q90']} operations, q99 {LEAST_COUNT['q99']}" in page
    assert private_constant("ranks/account.rs", "DIGITS") == 3
    assert "three significant digits" in page
    assert "16 bytes each" in page


def test_the_readme_names_every_page_and_the_false_alarms_that_were_measured() -> None:
    readme = (ROOT / "README.md").read_text()
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "methods").glob("*.md")]
    assert len(pages) > 20
    for page in pages:
        assert f"({page.relative_to(ROOT)})" in readme
    measured = re.findall(
        r"T8  (\w+): false alarms a month \(40 d\) +([\d.]+)",
        (ROOT / "docs" / "performance.md").read_text(),
    )
    rates = {op: float(rate) for op, rate in measured}
    create, read = f"{rates['md_create']:g}", f"{rates['data_read']:g}"
    said = f"creates raise {create} false alarms a month and reads {read}. A target has six ops"
    assert said in " ".join(readme.split())
    agent = " ".join((ROOT / "docs" / "agent.md").read_text().split())
    assert f"month: creates {create}, reads {read} (T8 in" in agent
