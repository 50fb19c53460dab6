"""Write ``deploy/prometheus/iosonde.rules.yml``: rules in the words of iosonde, on verdicts of its agents.

``python scripts/rules.py`` writes the file, ``--check`` fails if it differs. Metrics and labels are those of
schema/metrics/agent.toml; a test holds every expression to it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from iosonde.model.ops import OP_WORDS
from iosonde.weather.peers.groups import LEAST
from iosonde.weather.peers.peers import CLEAR, LEAST_RATIO, MOST
from iosonde.weather.slowdown.findings import CLIMATE_AT, FEWER_HITS

FILE = Path(__file__).resolve().parents[1] / "deploy/prometheus/iosonde.rules.yml"
RUNBOOK = "docs/prometheus.md"
SEVERE_AT = 5.0
"""A slowdown that deserves a page by itself."""
HEAD = """\
# Recording and alert rules for iosonde-agent. Written by scripts/rules.py; change that and run it again.
#
# Install: copy to a folder of rule_files in prometheus.yml, then reload Prometheus.
# Costs:   {records} recorded series families and {alerts} alerts, every 30 s.
# What each alert means and what to do: {runbook}
"""


class Record(NamedTuple):
    """A recording rule, ``level:metric:operation``."""

    name: str
    expr: str


class Alert(NamedTuple):
    """An alert rule. ``summary`` and ``description`` are Prometheus templates."""

    name: str
    expr: str
    lasting: str
    severity: str
    summary: str
    description: str


_BY_OP = "job, instance, target, op"
_BY_TARGET = "job, instance, target"
OPS = (
    "".join(
        f'{{{{ {"if" if n == 0 else "else if"} eq $labels.op "{op}" }}}}{word}'
        for n, (op, word) in enumerate(OP_WORDS.items())
    )
    + "{{ else }}{{ $labels.op }}{{ end }}"
)
"""The word of the label ``op``, as sentences have it."""
_ON = "{{ $labels.target }}"
_SEEN = "seen from {{ $labels.instance }}"


def _of_same(metric: str, printed: str) -> str:
    """The value of another metric of the alert's operation, where there is one."""
    labels = ", ".join(f"{name}=%q" for name in ("job", "instance", "target", "op"))
    values = " ".join(f"$labels.{name}" for name in ("job", "instance", "target", "op"))
    query = f"printf `{metric}{{{labels}}}` {values} | query"
    return f"{{{{ with {query} }}}}{printed.replace('VALUE', '(. | first | value)')}{{{{ end }}}}"


_KIND = """label_replace(
  iosonde_baseline_seconds{target=~".*[0-9].*"}, "kind", "$1#$2", "target", "(.*[^0-9]|)[0-9]+([^0-9]*)"
)"""
"""Usual latencies of targets with a number in their name; the label ``kind`` is the name without the last one."""
_OF_HOST, _OF_TARGET = "job, instance, op, kind", "job, target, op"
"""What peers have in common: a host and the kind of their names; a target."""


def _beside(usual: str, shared: str) -> str:
    """Usual latencies over the median of their peers, where there are enough of these."""
    return f"""{usual}
  / on ({shared}) group_left () quantile by ({shared}) (0.5, {usual})
  and on ({shared}) count by ({shared}) ({usual}) >= {LEAST}"""


_BESIDE_HOST = "instance_target_op:iosonde_baseline_seconds:ratio_to_host"
_BESIDE_TARGET = "instance_target_op:iosonde_baseline_seconds:ratio_to_target"


def _slow_beside(ratio: str, shared: str) -> str:
    """Ratios that are slow beside their peers: large, clear of the faster half's spread, and few of a group.

    The distance of a median and a lower quartile is 0.6745 standard deviations of a normal distribution.
    """
    clear = f"quantile by ({shared}) (0.25, {ratio}) ^ -{CLEAR / 0.6745:.2g}"
    few = f"count by ({shared}) ({ratio} > {LEAST_RATIO:g}) <= {MOST:g} * count by ({shared}) ({ratio})"
    return f"""{ratio} > {LEAST_RATIO:g}
  and on ({shared}) {few}
  and {ratio} > on ({shared}) group_left () ({clear})"""


RECORDS = [
    *(
        Record(
            f"instance_target_op:iosonde_op_duration_seconds:q{round(q * 100)}_5m",
            f"""histogram_quantile({q}, sum by ({_BY_OP}, le) (rate(iosonde_op_duration_seconds_bucket[5m])))
or histogram_quantile({q}, sum by ({_BY_OP}) (rate(iosonde_op_duration_seconds[5m])))""",
        )
        for q in (0.5, 0.95)
    ),
    Record(
        "instance_target_op:iosonde_ops_lost:ratio_rate5m",
        f"""sum by ({_BY_OP}) (rate(iosonde_ops_total{{result=~"error|timeout|skipped"}}[5m]))
  / (sum by ({_BY_OP}) (rate(iosonde_ops_total{{result!="shed"}}[5m])) > 0)""",
    ),
    Record(
        "instance_target:iosonde_alarm_raised:ops_1m",
        f"count by ({_BY_TARGET}) (iosonde_alarm == 1 unless (iosonde_alarm offset 1m) == 1)",
    ),
    Record(
        "target_op:iosonde_slowdown_ratio:median",
        'quantile by (target, op) (0.5, iosonde_slowdown_ratio{stat="typ"})',
    ),
    Record(
        "target:iosonde_state_slow:hosts", 'count by (target) (iosonde_state{state="slow"} == 1)'
    ),
    Record(_BESIDE_HOST, _beside(_KIND, _OF_HOST)),
    Record(_BESIDE_TARGET, _beside("iosonde_baseline_seconds", _OF_TARGET)),
]

_SLOW = 'iosonde_op_state{state="slow"} == 1'
_VERY_SLOW = f"""iosonde_stretch_slowdown_ratio >= {SEVERE_AT:g}
  and on ({_BY_OP}) {_SLOW}"""
_INTERVAL = _of_same(
    "iosonde_stretch_slowdown_ratio_lower", ' ({{ printf "%.1f" VALUE }}-'
) + _of_same("iosonde_stretch_slowdown_ratio_upper", '{{ printf "%.1f" VALUE }})')
_SLOWER = (
    f"{OPS} on {_ON} are"
    + _of_same("iosonde_stretch_slowdown_ratio", ' {{ printf "%.1f" VALUE }}x')
    + f" slower than usual{_INTERVAL}"
)

ALERTS = [
    Alert(
        *("IosondeSlow", _SLOW, "2m", "warning", _SLOWER),
        f"{_SEEN}; iosonde slowdown says since when and how surely.",
    ),
    Alert(
        "IosondeVerySlow",
        _VERY_SLOW,
        *("2m", "critical", _SLOWER),
        f"{_SEEN}; iosonde slowdown says since when and how surely.",
    ),
    Alert(
        "IosondeTwoOpsSlow",
        f"""max_over_time(instance_target:iosonde_alarm_raised:ops_1m[10m]) >= 2
  and on ({_BY_TARGET}) sum by ({_BY_TARGET}) (iosonde_alarm) > 0""",
        *(
            "0s",
            "critical",
            f"{{{{ $value }}}} operations on {_ON} were found slow within a minute",
        ),
        f"{_SEEN}; one detector may err, two rarely do.",
    ),
    Alert(
        "IosondeHung",
        "iosonde_breaker_open == 1",
        *("0s", "critical"),
        f"{OPS} on {_ON} have been hanging"
        + _of_same("iosonde_op_inflight_seconds", " for {{ VALUE | humanizeDuration }}"),
        f"{_SEEN}; iosonde events says where the kernel waits.",
    ),
    Alert(
        "IosondeFailing",
        'iosonde_state{state="failing"} == 1',
        *("1m", "critical", f"operations on {_ON} are failing"),
        f"{_SEEN}; iosonde now names the operations and their errors.",
    ),
    Alert(
        "IosondeLost",
        f"""iosonde_lost_ratio
  and on ({_BY_OP}) iosonde_op_state{{state="lost"}} == 1""",
        *(
            "3m",
            "warning",
            f"{{{{ $value | humanizePercentage }}}} of {OPS} on {_ON} are late, missing or failed",
        ),
        f"{_SEEN}.",
    ),
    Alert(
        "IosondeFewHits",
        f"""iosonde_hit_ratio
  and on ({_BY_OP}) iosonde_op_state{{state="partly_slow"}} == 1
  and on ({_BY_OP}) iosonde_hit_ratio < {FEWER_HITS:g} * iosonde_hit_ratio_usual""",
        *(
            "3m",
            "warning",
            f"only {{{{ $value | humanizePercentage }}}} of the {OPS} on {_ON} come from a cache"
            + _of_same("iosonde_hit_ratio_usual", " (usually {{ VALUE | humanizePercentage }})"),
        ),
        f"{_SEEN}.",
    ),
    Alert(
        "IosondeStale",
        f"""time() - iosonde_last_success_timestamp_seconds > 900
  unless on ({_BY_OP}) iosonde_breaker_open == 1""",
        *(
            "0s",
            "warning",
            f"no {OPS} on {_ON} has ended well for {{{{ $value | humanizeDuration }}}}",
        ),
        f"{_SEEN}; the agent answers, but does not probe this.",
    ),
    Alert(
        *("IosondeTargetDown", "iosonde_target_up == 0", "15m", "warning"),
        f"{_ON} is not probed",
        f"{_SEEN}; iosonde doctor says why: it may be full, read-only, gone, or hang.",
    ),
    Alert(
        "IosondeAgentGone",
        """max by (job, instance) (max_over_time(iosonde_build_info[1d]))
  unless on (job, instance) iosonde_build_info""",
        *("2m", "critical", "nothing heard of the agent on {{ $labels.instance }}"),
        "It was scraped within the last day; the alert ends a day after the last scrape.",
    ),
    Alert(
        "IosondeTextfileStale",
        r'time() - node_textfile_mtime_seconds{file=~".*iosonde[^/]*[.]prom"} > 120',
        *(
            "0s",
            "critical",
            "the agent on {{ $labels.instance }} has not written for {{ $value | humanizeDuration }}",
        ),
        "Its numbers are old; only for agents with a text file, whose time node_exporter exports.",
    ),
    Alert(
        *("IosondeStoreFull", "iosonde_store_full == 1", "10m", "warning"),
        "the store on {{ $labels.instance }} has no room",
        "Probing goes on; samples wait in memory.",
    ),
    Alert(
        *(
            "IosondeSamplesDropped",
            "increase(iosonde_spool_dropped_rows_total[15m]) > 0",
            "0s",
            "warning",
        ),
        'the agent on {{ $labels.instance }} dropped {{ printf "%.0f" $value }} samples',
        "The store did not take them in time.",
    ),
    Alert(
        "IosondeClimate",
        f"iosonde_climate_ratio >= {CLIMATE_AT:g}",
        *(
            "1d",
            "info",
            f'usual {OPS} on {_ON} take {{{{ printf "%.1f" $value }}}}x as long as at first',
        ),
        f"{_SEEN}; a lasting change: iosonde events has its date.",
    ),
    *(
        Alert(
            name,
            _slow_beside(ratio, shared),
            *("1h", "info"),
            f'{OPS} on {_ON} usually take {{{{ printf "%.1f" $value }}}}x as long as {others}',
            f"{_SEEN}; iosonde now --hosts says how surely, and since when if that is known.",
        )
        for name, ratio, shared, others in (
            ("IosondeSlowBesideTargets", _BESIDE_HOST, _OF_HOST, "others like it on this host"),
            ("IosondeSlowBesideHosts", _BESIDE_TARGET, _OF_TARGET, "on other hosts"),
        )
    ),
]


def text() -> str:
    """The file."""
    head = HEAD.format(records=len(RECORDS), alerts=len(ALERTS), runbook=RUNBOOK)
    parts = [head, "groups:", "  - name: iosonde-records", "    interval: 30s", "    rules:"]
    for record in RECORDS:
        parts += [f"      - record: {record.name}", _block("expr", record.expr)]
    parts += ["  - name: iosonde-alerts", "    interval: 30s", "    rules:"]
    for alert in ALERTS:
        parts += [f"      - alert: {alert.name}", _block("expr", alert.expr)]
        parts += [
            f"        for: {alert.lasting}",
            f"        labels: {{severity: {alert.severity}}}",
        ]
        parts += ["        annotations:", _block("summary", alert.summary, 10)]
        parts += [_block("description", alert.description, 10)]
        parts += [f"          runbook: {RUNBOOK}#{alert.name.lower()}"]
    return "\n".join(parts) + "\n"


def _block(key: str, value: str, depth: int = 8) -> str:
    pad = " " * depth
    return f"{pad}{key}: |-\n{indent(value, pad + '  ')}"


def main() -> int:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the file differs")
    if parser.parse_args().check:
        if FILE.read_text() == text():
            return 0
        print(f"{FILE.name} differs; run python scripts/rules.py", file=sys.stderr)
        return 1
    FILE.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
