"""The shipped alert rules in a real Prometheus, over real agents: alerts fire where ``check`` warns, nowhere else.

Minutes of the rules are seconds here: they wait for no less of what they wait for, in a sixtieth of the time.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts.rules import FILE
from tests.kit import harness
from tests.kit.servers.scraping import scraping

pytestmark = [pytest.mark.service, pytest.mark.measures]

LATENCY = ", ".join(
    f'{op} = "2ms"'
    for op in ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
)
AFTER = "25s"
"""When faults begin: five windows are learnt by then."""
KINDS = {
    "usual": ("50ms", "", 0),
    "slow": ("50ms", 'op = "data_read", multiply = 3.0', 1),
    "very": ("50ms", 'op = "data_read", multiply = 9.0', 2),
    "hung": ("50ms", 'op = "md_create", hang = true', 2),
    "failing": ("50ms", 'op = "md_stat", error = "EIO"', 2),
    "young": ("50ms", 'op = "data_read", multiply = 9.0', 3),
}
"""Period, fault and code of the plugin. The last has an agent with windows of a minute: it still learns."""
QUIET = ("usual", "young")
CODES = {"warning": 1, "critical": 2}
ALERTS = {
    "slow": {"IosondeSlow"},
    "very": {"IosondeSlow", "IosondeVerySlow"},
    "hung": {"IosondeHung"},
    "failing": {"IosondeFailing"},
}
"""Alerts that name what is wrong; others may fire beside them on the same target."""
WRONG = set().union(*ALERTS.values())


def rules(folder: Path) -> Path:
    """The shipped rules, sixty times as quick."""
    text = re.sub(r"(for: |offset )(\d+)m\b", r"\1\2s", FILE.read_text())
    text = re.sub(r"interval: \d+s", "interval: 1s", text)
    text = re.sub(r"\[(5|10|15)m\]", r"[\1s]", text)
    assert "m\n" not in "".join(re.findall(r"for: \S+\n", text)), "a wait of minutes"
    path = folder / "rules.yml"
    path.write_text(text)
    return path


def configuration(window: str, *names: str) -> str:
    """Targets on a simulated storage, each with its fault."""
    parts = [f'window = "{window}"']
    for name in names:
        period, fault, _ = KINDS[name]
        parts.append(
            f'[[target]]\npath = "/{name}"\nname = "{name}"\nperiod = "{period}"\n'
            f'backend = "null"\nlatency = {{ {LATENCY} }}'
        )
        if fault:
            parts.append(f'fault = [{{ after = "{AFTER}", {fault} }}]')
    return "\n".join(parts) + "\n"


def checked(stores: dict[str, Path]) -> dict[str, int]:
    """The plugin's code of each target; ``stores``: which store has it."""
    return {
        name: harness.run(["check", name, "--store", store], expect=None).returncode
        for name, store in stores.items()
    }


def fired(prometheus) -> dict[str, dict[str, str]]:
    """Severities of firing alerts, by target and name."""
    found: dict[str, dict[str, str]] = {name: {} for name in KINDS}
    for one in prometheus.ask("alerts")["alerts"]:
        labels = one["labels"]
        if one["state"] == "firing" and labels.get("target") in found:
            found[labels["target"]][labels["alertname"]] = labels["severity"]
    return found


def test_an_alert_fires_where_check_warns_and_never_where_nothing_is_judged(tmp_path: Path) -> None:
    wanted = {name: code for name, (_, _, code) in KINDS.items()}
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    names = [name for name in KINDS if name != "young"]
    with (
        harness.running(folders[0], configuration("3s", *names)) as agent,
        harness.running(folders[1], configuration("60s", "young")) as young,
    ):
        stores = {name: young.store if name == "young" else agent.store for name in KINDS}
        extra = f"rule_files: ['{rules(tmp_path)}']\n"
        with scraping(tmp_path, agent.address, young.address, extra=extra) as prometheus:

            def agree() -> bool:
                alerts = fired(prometheus)
                worst = {
                    name: max((CODES.get(one, 0) for one in found.values()), default=0)
                    for name, found in alerts.items()
                }
                codes = checked(stores)
                told = {name: 0 if code == 3 else code for name, code in codes.items()}
                return (
                    codes == wanted
                    and worst == told
                    and all(names <= alerts[name].keys() for name, names in ALERTS.items())
                )

            harness.wait_for("the plugin and the alerts to say the same", agree, 120)
            ever = prometheus.query('max_over_time(ALERTS{alertstate="firing"}[10m])')
            slow = [
                (one["metric"]["target"], one["metric"]["alertname"])
                for one in ever
                if one["metric"].get("target") in QUIET and one["metric"]["alertname"] in WRONG
            ]
            assert slow == []
            summaries = {
                one["labels"]["target"]: one["annotations"]["summary"]
                for one in prometheus.ask("alerts")["alerts"]
                if one["labels"]["alertname"] == "IosondeSlow" and one["state"] == "firing"
            }
        now = json.loads(harness.run(["now", "--store", agent.store, "--format", "json"]).stdout)[
            "targets"
        ]
    said = {one["target"]: one["sentence"] for one in now}
    for name in ("slow", "very"):
        words = rf"reads on {name} are [\d.]+x slower than usual \([\d.]+-[\d.]+\)"
        assert re.fullmatch(words, summaries[name]), summaries
        assert re.match(words, said[name]), said
