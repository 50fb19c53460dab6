"""Panels over the agent's metrics: a query, its unit and what it means, each said once in the schema."""

from __future__ import annotations

from typing import Generic, TypeVar

from grafana_foundation_sdk.builders import (
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    timeseries,
)
from grafana_foundation_sdk.builders import table as tables
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode, HeatmapColorOptions
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from iosonde.model.ops import SLOW_AT
from scripts.grafana.metrics import Metric, read

T = TypeVar("T")
METRICS = read()
SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
GREEN, AMBER, RED, GREY = "#2e8b57", "#d98e04", "#c0392b", "#8c8c8c"
STATES = {
    "ok": GREEN,
    "learning": "#5b8db8",
    "slow": AMBER,
    "failing": RED,
    "hung": RED,
    "stopped": GREY,
}
"""A target's states, each with its colour and, by its place from 1 on, its number on a time line."""
HERE = 'instance=~"$instance",target=~"$target"'


def query(expr: str, legend: str, *, instant: bool = False) -> prometheus.Dataquery:
    """A query of the data source that the dashboard's variable names."""
    made = prometheus.Dataquery().expr(expr).legend_format(legend).datasource(SOURCE)
    return made.instant().format(PromQueryFormat.TABLE) if instant else made.range()


def lines(
    title: str, metric: str, *queries: tuple[str, str], rate: bool = False, wide: int = 12
) -> timeseries.Panel:
    """Lines over time in the unit of ``metric``, whose description stands behind the panel's (i)."""
    of = METRICS[metric]
    made = timeseries.Panel().title(title).description(of.description).datasource(SOURCE)
    made = made.unit(of.rate_unit if rate else of.unit).span(wide).height(8).min(0)
    made = (
        made.legend(common_legend(placement=common.LegendPlacement.BOTTOM))
        .tooltip(_tooltip())
        .line_width(1)
        .fill_opacity(0)
    )
    for letter, (expr, legend) in zip("ABCDEF", queries, strict=False):
        made = made.with_target(query(expr, legend).ref_id(letter))
    return made


def slowdown(title: str, *queries: tuple[str, str], wide: int = 24) -> timeseries.Panel:
    """Slowdowns on a logarithmic axis, with the limit from which on iosonde says slow."""
    made = lines(title, "iosonde_slowdown_ratio", *queries, wide=wide).min(0.5).axis_soft_max(4)
    scale = common.ScaleDistributionConfig(type_val=common.ScaleDistribution.LOG, log=2)
    steps = [_step(None, "transparent"), _step(SLOW_AT, AMBER)]
    return (
        made.scale_distribution(_Built(scale))
        .thresholds(dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
        .thresholds_style(
            _Built(common.GraphThresholdsStyleConfig(mode=common.GraphThresholdsStyleMode.DASHED))
        )
    )


def states(title: str, where: str, wide: int = 24, height: int = 8) -> statetimeline.Panel:
    """The state of every target over time, a colour each."""
    numbers = {name: place for place, name in enumerate(STATES, 1)}
    union = " or ".join(
        f'iosonde_state{{{where},state="{name}"}} * {number}' for name, number in numbers.items()
    )
    shown = {
        str(number): model.ValueMappingResult(text=name, color=STATES[name], index=number)
        for name, number in numbers.items()
    }
    made = statetimeline.Panel().title(title).description(METRICS["iosonde_state"].description)
    return (
        made.datasource(SOURCE)
        .span(wide)
        .height(height)
        .with_target(
            query(f"sum by (instance, target) ({union})", "{{target}} from {{instance}}").ref_id(
                "A"
            )
        )
        .mappings([model.ValueMap(options=shown)])
        .show_value(common.VisibilityMode.NEVER)
        .row_height(0.8)
        .fill_opacity(85)
        .line_width(0)
        .legend(common_legend(placement=common.LegendPlacement.BOTTOM))
    )


def number(title: str, description: str, expr: str, *, bad_from: float | None = None) -> stat.Panel:
    """One number; from ``bad_from`` on it is red."""
    steps = [_step(None, "text" if bad_from is None else GREEN)]
    steps += [] if bad_from is None else [_step(bad_from, RED)]
    made = stat.Panel().title(title).description(description).datasource(SOURCE).span(4).height(4)
    return (
        made.with_target(query(expr, title).ref_id("A"))
        .thresholds(dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
        .graph_mode(common.BigValueGraphMode.NONE)
        .color_mode(common.BigValueColorMode.VALUE)
        .reduce_options(_Built(common.ReduceDataOptions(calcs=["lastNotNull"])))
        .no_value("0")
    )


def heat(title: str, metric: str, where: str, wide: int = 24) -> heatmap.Panel:
    """How operations are spread over the buckets of a histogram, classic or native."""
    of = METRICS[metric]
    classic, native = (
        f"increase({name}{{{where}}}[$__rate_interval])" for name in (f"{metric}_bucket", metric)
    )
    expr = f"sum by (le) ({classic}) or sum({native})"
    made = heatmap.Panel().title(title).description(of.description).datasource(SOURCE)
    options = HeatmapColorOptions(
        mode=HeatmapColorMode.SCHEME,
        scheme="Viridis",
        exponent=0.5,
        steps=64,
        fill="dark-orange",
        reverse=False,
    )
    return (
        made.span(wide)
        .height(9)
        .with_target(query(expr, "{{le}}").format(PromQueryFormat.HEATMAP).ref_id("A"))
        .color(_Built(options))
        .y_axis(heatmap.YAxisConfig().unit(of.unit))
        .cell_gap(0)
        .hide_legend()
    )


def table(title: str, description: str, expr: str, unit: str, wide: int = 12) -> tables.Panel:
    """The latest values, a row a series, the largest first; columns are its labels."""
    made = tables.Panel().title(title).description(description).datasource(SOURCE)
    hidden = model.DataTransformerConfig(
        id_val="organize",
        options={"excludeByName": {"Time": True, "__name__": True, "job": True, "stat": True}},
    )
    return (
        made.unit(unit)
        .inspect(False)
        .span(wide)
        .height(9)
        .with_target(query(expr, "", instant=True).ref_id("A"))
        .with_transformation(hidden)
        .sort_by([_Built(common.TableSortByFieldState(display_name="Value", desc=True))])
    )


def common_legend(*, placement: common.LegendPlacement) -> _Built[common.VizLegendOptions]:
    """A legend as a list."""
    return _Built(
        common.VizLegendOptions(
            display_mode=common.LegendDisplayMode.LIST,
            placement=placement,
            show_legend=True,
            calcs=[],
        )
    )


def of(name: str) -> Metric:
    """A metric by name."""
    return METRICS[name]


class _Built(Builder[T], Generic[T]):
    """A model where a builder is expected."""

    def __init__(self, value: T) -> None:
        self._value = value

    def build(self) -> T:
        """The model."""
        return self._value


def _tooltip() -> _Built[common.VizTooltipOptions]:
    return _Built(
        common.VizTooltipOptions(
            mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING
        )
    )


def _step(value: float | None, color: str) -> model.Threshold:
    return model.Threshold(value=value, color=color)
