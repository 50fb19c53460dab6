"""The contract in schema/ against the documents and the code that must agree with it."""

import re
import shlex
import tomllib
from importlib import import_module

import pytest

from benchmarks.__main__ import catalogue, parser_of
from iosonde import _core
from iosonde.model import ops
from tests.kit.prose import ROOT, prose, public


def schema(path: str) -> dict[str, object]:
    return tomllib.loads((ROOT / "schema" / path).read_text())


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


def test_rules_of_alarms_in_prose_are_those_in_code() -> None:
    code = (ROOT / "rust/core/src/slowdown/rules.rs").read_text()
    rules = re.findall(
        r"Cause::(\w+), level: ([\d.]+), least: ([\d.]+), p0: ([\d.]+), p1: ([\d.]+), limit: ([\d.]+)",
        code,
    )
    assert len(rules) == 3
    for cause, level, *numbers in rules:
        row = re.search(
            rf"\| \*\*{cause.lower()}\*\* \| `Q_exp\(([\d.]+)\)`, at least ([\d.]+) m "
            rf"\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) D\^{public()['CLUSTERS']:g} \|",
            prose("methods/alarms.md"),
        )
        assert row is not None
        assert list(map(float, row.groups())) == [float(level), *map(float, numbers)]


def test_thresholds_that_python_shows_are_those_of_the_core() -> None:
    constants = public()
    assert (constants["SLOW_FROM"], constants["SLOW_LOWER"]) == (ops.SLOW_AT, ops.SLOW_LOWER_AT)
    assert constants["MINIMUM_WINDOWS"] == _core.BASELINE_WINDOWS


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


def test_defaults_of_the_metadata_benchmark_in_prose_are_those_in_code() -> None:
    from iosonde.bench.metadata.spec import DEFAULTS
    from iosonde.cli.bench.options import parse

    args = parse(["/work"])
    letters = {
        **{"D": DEFAULTS["data_sets"], "P": DEFAULTS["objects"], "S": DEFAULTS["size_bytes"]},
        **{"I": DEFAULTS["iterations"], "O": args.offset, "T": f"{args.waiting:g}"},
    }
    for letter, value in letters.items():
        row = re.search(rf"\| {letter} \| [^|]* \| [^|]* \| (\d+) \|", prose("bench-metadata.md"))
        assert row, letter
        assert row[1] == str(value), letter


def test_the_table_of_contents_names_every_page_and_the_readme_names_it() -> None:
    contents = (ROOT / "docs" / "README.md").read_text()
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "methods").glob("*.md")]
    assert len(pages) > 20
    for page in pages:
        assert page.name == "README.md" or f"({page.relative_to(ROOT / 'docs')})" in contents
    readme = (ROOT / "README.md").read_text()
    assert "(docs/README.md)" in readme
    assert len(readme.splitlines()) <= 120


def test_the_false_alarms_that_were_measured_stand_in_prose() -> None:
    table = (ROOT / "docs/performance/alarms.txt").read_text()
    measured = re.findall(r"T8  (\w+): false alarms a month \(40 d\) +([\d.]+)", table)
    rates = {op: float(rate) for op, rate in measured}
    create, read = f"{rates['md_create']:g}", f"{rates['data_read']:g}"
    assert f"month: creates {create}, reads {read} (T8 in" in prose("agent.md")
    assert f"| {create}; {read} |" in prose("performance.md")


def test_every_table_of_performance_has_its_command_and_machine() -> None:
    page = (ROOT / "docs/performance.md").read_text()
    linked = set(re.findall(r"\(performance/([\w-]+)\.txt\)", page))
    files = {path.stem: path.read_text() for path in (ROOT / "docs/performance").glob("*.txt")}
    assert linked == set(files)
    for name, text in files.items():
        assert re.match(r"(python -m benchmarks|cargo run) ", text), name
    known = catalogue()
    for line in re.findall(r"`python -m benchmarks ([^`]*)`", page):
        benchmark, *words = shlex.split(line)
        module = import_module(known[benchmark][0])
        parser_of(benchmark, module.main, None).parse_args(words)
