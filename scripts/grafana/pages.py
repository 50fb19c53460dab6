"""The four dashboards: overview, one target, the fleet, benchmarks."""

from __future__ import annotations

from collections.abc import Callable

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import dashboard as model

from iosonde.model.ops import OPS
from scripts.grafana import panels
from scripts.grafana.infinity import runs_notes, runs_table
from scripts.grafana.panels import HERE, SOURCE, heat, lines, number, slowdown, states, table

WHERE = f'{HERE},op=~"$op"'
_SLOW = "iosonde_slowdown_ratio"
_OF_ALL = "{{target}} {{op}} from {{instance}}"


def overview() -> dashboard.Dashboard:
    """Every target that is watched, the worst first."""
    made = _page("iosonde-overview", "iosonde: overview", "Is storage slow, and which?")
    made = _variables(made, "instance", "target")
    counted = "count(count by (target) (iosonde_state))"
    made = made.with_panel(number("Targets", "Targets that agents watch.", counted)).with_panel(
        number("Agents", panels.of("iosonde_build_info").description, "count(iosonde_build_info)")
    )
    for title, state in (("Slow", "slow"), ("Hung", "hung"), ("Failing", "failing")):
        expr = f'count(count by (target) (iosonde_state{{state="{state}"}} == 1))'
        made = made.with_panel(
            number(title, f"Targets that are {state} from a host.", expr, bad_from=1)
        )
    made = made.with_panel(
        number(
            "Alerts",
            "Alerts of iosonde that fire.",
            'count(ALERTS{alertname=~"Iosonde.*",alertstate="firing"})',
            bad_from=1,
        )
    )
    worst = f"topk(20, max by (instance, target, op) ({_SLOW}{{{HERE}}}))"
    lost = f"topk(20, max by (instance, target, op) (iosonde_lost_ratio{{{HERE}}}) > 0)"
    return (
        made.with_panel(states("State", HERE, height=9))
        .with_panel(table("Slowest operations", panels.of(_SLOW).description, worst, "none"))
        .with_panel(
            table(
                "Lost operations", panels.of("iosonde_lost_ratio").description, lost, "percentunit"
            )
        )
        .with_panel(
            slowdown(
                "Slowdown, the worst operation of each target",
                (f"max by (target) ({_SLOW}{{{HERE}}})", "{{target}}"),
            )
        )
        .with_panel(
            lines(
                "Open operations",
                "iosonde_op_inflight_seconds",
                (f"max by (target) (iosonde_op_inflight_seconds{{{HERE}}})", "{{target}}"),
                wide=24,
            )
        )
    )


def target() -> dashboard.Dashboard:
    """One target: how slow, since when, from which hosts, which operations."""
    made = _page(
        "iosonde-target", "iosonde: target", "How slow is one target, since when, from which hosts?"
    )
    made = _variables(made, "instance", "target", "op", one="target")
    classic = f"rate(iosonde_op_duration_seconds_bucket{{{WHERE}}}[$__rate_interval])"
    native = f"rate(iosonde_op_duration_seconds{{{WHERE}}}[$__rate_interval])"
    quantile = (
        f"histogram_quantile({{}}, sum by (op, le) ({classic})) "
        f"or histogram_quantile({{}}, sum by (op) ({native}))"
    ).replace
    return (
        made.with_panel(states("State from each host", HERE, height=5))
        .with_panel(
            slowdown(
                "Slowdown of the typical operation, with its 95 % interval",
                (f"{_SLOW}{{{WHERE}}}", "{{op}} from {{instance}}"),
                (f"{_SLOW}_lower{{{WHERE}}}", "{{op}} from {{instance}}, lower"),
                (f"{_SLOW}_upper{{{WHERE}}}", "{{op}} from {{instance}}, upper"),
            )
        )
        .with_panel(
            slowdown(
                "Slowest twentieth",
                (f"iosonde_tail_ratio{{{WHERE}}}", "{{op}} from {{instance}}"),
                wide=12,
            )
        )
        .with_panel(
            lines(
                "Late, missing or failed",
                "iosonde_lost_ratio",
                (f"iosonde_lost_ratio{{{WHERE}}}", "{{op}} from {{instance}}"),
            )
        )
        .with_panel(heat("Response times", "iosonde_op_duration_seconds", WHERE))
        .with_panel(
            lines(
                "Response time, median and 95 % quantile",
                "iosonde_op_duration_seconds",
                (quantile("{}", "0.5"), "{{op}} median"),
                (quantile("{}", "0.95"), "{{op}} 95 %"),
            )
        )
        .with_panel(
            lines(
                "Usual response time",
                "iosonde_baseline_seconds",
                (f"iosonde_baseline_seconds{{{WHERE}}}", "{{op}} from {{instance}}"),
            )
        )
        .with_panel(
            lines(
                "Open operations",
                "iosonde_op_inflight_seconds",
                (f"iosonde_op_inflight_seconds{{{WHERE}}}", "{{op}} from {{instance}}"),
            )
        )
        .with_panel(
            lines(
                "Alarms", "iosonde_alarm", (f"iosonde_alarm{{{WHERE}}}", "{{op}} from {{instance}}")
            )
        )
        .with_panel(
            lines(
                "Operations by outcome",
                "iosonde_ops_total",
                (
                    f"sum by (result) (rate(iosonde_ops_total{{{WHERE}}}[$__rate_interval]))",
                    "{{result}}",
                ),
                rate=True,
            )
        )
        .with_panel(
            lines(
                "Usual now against usual at first",
                "iosonde_climate_ratio",
                (f"iosonde_climate_ratio{{{WHERE}}}", "{{op}} from {{instance}}"),
            )
        )
        .with_panel(
            lines(
                "Host busy",
                "iosonde_host_busy",
                (f"iosonde_host_busy{{{WHERE}}}", "{{op}} from {{instance}}"),
            )
        )
        .with_panel(
            table(
                "Last success",
                panels.of("iosonde_last_success_timestamp_seconds").description,
                f"max by (instance, op) (iosonde_last_success_timestamp_seconds{{{WHERE}}}) * 1000",
                "dateTimeFromNow",
            )
        )
    )


def fleet() -> dashboard.Dashboard:
    """The agents: what they cost and whether they measure."""
    made = _page("iosonde-fleet", "iosonde: fleet", "Do all agents measure, and what do they cost?")
    made = _variables(made, "instance", "target")
    agent = 'instance=~"$instance"'
    scraped = f'{agent},job=~"$job"'
    by_agent = (
        (
            "Processor time of agents",
            "process_cpu_seconds_total",
            "rate(M{W}[$__rate_interval])",
            scraped,
            True,
        ),
        ("Memory of agents", "process_resident_memory_bytes", "M{W}", scraped, False),
        ("Samples that wait for the store", "iosonde_spool_waiting_rows", "M{W}", agent, False),
        (
            "Samples given up",
            "iosonde_spool_dropped_rows_total",
            "rate(M{W}[$__rate_interval])",
            agent,
            True,
        ),
        ("Store short of room", "iosonde_store_full", "M{W}", agent, False),
        (
            "Steps of the wall clock",
            "iosonde_clock_steps_total",
            "increase(M{W}[$__rate_interval])",
            agent,
            False,
        ),
    )
    by_target = (
        (
            "Processor time of workers",
            "iosonde_worker_cpu_seconds_total",
            "rate(M{W}[$__rate_interval])",
            True,
        ),
        ("Bytes probed", "iosonde_probe_bytes_total", "rate(M{W}[$__rate_interval])", True),
        (
            "Ticks missed",
            "iosonde_ticks_missed_total",
            "sum by (instance, target) (rate(M{W}[$__rate_interval]))",
            True,
        ),
        (
            "Hangs",
            "iosonde_hangs_total",
            "sum by (instance, target) (increase(M{W}[$__rate_interval]))",
            False,
        ),
        ("Ticks for one operation", "iosonde_rate_divider", "M{W}", False),
        ("Targets that are probed", "iosonde_target_up", "M{W}", False),
    )
    made = made.with_panel(states("Hosts and targets", HERE, height=12))
    made = made.with_panel(
        table(
            "Versions",
            panels.of("iosonde_build_info").description,
            f"count by (version) (iosonde_build_info{{{agent}}})",
            "short",
        )
    )
    stuck = f'sum by (instance, target) (iosonde_workers{{{HERE},kind="stuck"}})'
    made = made.with_panel(
        lines("Stuck workers", "iosonde_workers", (stuck, "{{target}} from {{instance}}"))
    )
    for title, name, expr, where, rate in by_agent:
        asked = expr.replace("M", name).replace("{W}", f"{{{where}}}")
        made = made.with_panel(lines(title, name, (asked, "{{instance}}"), rate=rate))
    for title, name, expr, rate in by_target:
        asked = expr.replace("M", name).replace("{W}", f"{{{HERE}}}")
        made = made.with_panel(
            lines(title, name, (asked, "{{target}} from {{instance}}"), rate=rate)
        )
    return made


def benchmarks() -> dashboard.Dashboard:
    """Runs of benchmarks, read from iosonde's API: they are not in Prometheus."""
    made = _page(
        "iosonde-benchmarks",
        "iosonde: benchmarks",
        "What can storage do? Runs from the API of iosonde serve.",
        prometheus=False,
    )
    infinity = (
        dashboard.DatasourceVariable("infinity")
        .label("iosonde API")
        .type("yesoreyeram-infinity-datasource")
    )
    made = made.with_variable(infinity)
    return made.with_panel(runs_table()).with_panel(runs_notes())


PAGES: dict[str, Callable[[], dashboard.Dashboard]] = {
    "overview": overview,
    "target": target,
    "fleet": fleet,
    "benchmarks": benchmarks,
}


def _page(
    uid: str, title: str, description: str, *, prometheus: bool = True
) -> dashboard.Dashboard:
    made = (
        dashboard.Dashboard(title).uid(uid).description(description).tags(["iosonde"]).refresh("1m")
    )
    made = (
        made.time("now-6h", "now").timezone("browser").tooltip(model.DashboardCursorSync.CROSSHAIR)
    )
    link = dashboard.DashboardLink("iosonde").type(model.DashboardLinkType.DASHBOARDS)
    made = made.link(link.tags(["iosonde"]).keep_time(True).include_vars(True).as_dropdown(True))
    if not prometheus:
        return made
    firing = (
        dashboard.AnnotationQuery()
        .name("Alerts")
        .datasource(SOURCE)
        .enable(True)
        .icon_color(panels.RED)
    )
    made = made.annotation(firing.expr('ALERTS{alertname=~"Iosonde.*",alertstate="firing"}'))
    return made.with_variable(
        dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
    )


def _variables(made: dashboard.Dashboard, *names: str, one: str = "") -> dashboard.Dashboard:
    """``instance``, ``target``, ``op`` as far as wanted; all of them unless ``one`` is chosen."""
    for name in names:
        asked = (
            dashboard.QueryVariable(name)
            .label(name)
            .datasource(SOURCE)
            .sort(model.VariableSort.ALPHABETICAL_ASC)
        )
        asked = asked.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        source = "iosonde_op_inflight_seconds" if name == "op" else "iosonde_state"
        asked = asked.query(f"label_values({source}, {name})")
        if name != one:
            every = model.VariableOption(selected=True, text="All", value="$__all")
            asked = asked.multi(True).include_all(True).current(every)
            asked = asked.all_value(".*") if name != "op" else asked.all_value("|".join(OPS))
        made = made.with_variable(asked)
    if "instance" in names and not one and made.build().uid == "iosonde-fleet":
        job = dashboard.QueryVariable("job").label("job").datasource(SOURCE)
        made = made.with_variable(
            job.query("label_values(iosonde_build_info, job)").include_all(True).multi(True)
        )
    return made
