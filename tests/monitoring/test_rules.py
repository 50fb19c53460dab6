"""Rules of Prometheus: what is generated is what lies there, and each alert fires when it should and only then."""

import re
import subprocess
from pathlib import Path

import pytest

from scripts import rules
from scripts.grafana.metrics import read

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).with_name("rules.test.yml")
METRICS = read()
OURS = {"job", "instance"}
"""Labels that a scrape adds."""


def promtool(*words: str | Path) -> str:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def metrics_in(expr: str) -> list[tuple[str, str]]:
    """(metric without a histogram's suffix, labels in braces) of an expression."""
    found = re.findall(r"(?<![\w:])(iosonde_\w+)(?:\{([^}]*)\})?", expr)
    return [
        (re.sub(r"_(bucket|count|sum)$", "", name) if name not in METRICS else name, labels)
        for name, labels in found
    ]


def assert_in_schema(expr: str) -> None:
    for name, labels in metrics_in(expr):
        assert name in METRICS, f"{name} in {expr}"
        used = set(re.findall(r"(\w+)\s*(?:=|!)", labels))
        assert used <= {*METRICS[name].labels, *OURS}, f"{name}{{{labels}}}"


def test_the_file_is_what_the_script_writes() -> None:
    assert rules.FILE.read_text() == rules.text(), "run python scripts/rules.py"


@pytest.mark.parametrize("rule", [*rules.RECORDS, *rules.ALERTS], ids=lambda rule: rule.name)
def test_every_rule_asks_for_metrics_and_labels_of_the_schema(rule) -> None:
    assert_in_schema(rule.expr)


def test_a_metric_that_does_not_exist_is_found() -> None:
    with pytest.raises(AssertionError):
        assert_in_schema("iosonde_slow_ratio > 2")
    with pytest.raises(AssertionError):
        assert_in_schema('iosonde_state{word="ok"} > 2')


def test_recorded_names_in_alerts_exist() -> None:
    recorded = {rule.name for rule in rules.RECORDS}
    for alert in rules.ALERTS:
        assert set(re.findall(r"\w+:\w+:\w+", alert.expr)) <= recorded


def test_every_alert_has_a_place_in_the_runbook_and_a_case() -> None:
    headings = re.findall(r"^### (\w+)$", (ROOT / rules.RUNBOOK).read_text(), re.M)
    assert headings == [alert.name for alert in rules.ALERTS]
    fired = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts", CASES.read_text()))
    assert fired == {alert.name for alert in rules.ALERTS}


@pytest.mark.service
def test_promtool_accepts_the_rules_and_their_unit_tests_hold() -> None:
    promtool("check", "rules", rules.FILE)
    assert "SUCCESS" in promtool("test", "rules", CASES)


@pytest.mark.service
def test_promtool_accepts_the_configuration(tmp_path: Path) -> None:
    scrape = (ROOT / "deploy/prometheus/iosonde.scrape.yml").read_text()
    (place,) = re.findall(r"files: \[(\S+)/\*\.yml\]", scrape)
    targets = ROOT / "deploy/prometheus/iosonde.targets.yml"
    assert f"into {place}/" in targets.read_text()
    (tmp_path / "targets.yml").write_text(targets.read_text())
    scrape = scrape.replace(f"{place}/*.yml", f"{tmp_path}/targets.yml")
    config = tmp_path / "prometheus.yml"
    fewer = (ROOT / "deploy/prometheus/fewer-series.yml").read_text()
    job = "".join(f"    {line}\n" for line in fewer.splitlines())
    config.write_text(f"rule_files: ['{rules.FILE}']\n{scrape}{job}")
    promtool("check", "config", config)
