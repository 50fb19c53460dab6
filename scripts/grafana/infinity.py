"""Panels over iosonde's own API through Grafana's Infinity data source: benchmark runs are not in Prometheus."""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.builders import table as tables
from grafana_foundation_sdk.builders import text
from grafana_foundation_sdk.cog import variants
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.text import TextMode

SOURCE = model.DataSourceRef(type_val="yesoreyeram-infinity-datasource", uid="${infinity}")
COLUMNS = {
    "began_ns": "Began",
    "kind": "Benchmark",
    "target": "Target",
    "host": "Host",
    "ranks": "Ranks",
    "headline": "Result",
    "run": "Run",
}
"""What the table shows of each of ``/api/runs``."""
_NOTE = """\
The Infinity data source asks `iosonde serve`. Give
it that address as *Base URL* and *Allowed host*, and the token as *Bearer token*.

One run: `/api/runs/run?run=ID`. Two beside each other: `/api/runs/compare?a=ID&b=ID`.
"""


class ApiQuery(variants.Dataquery, Builder[variants.Dataquery]):
    """A question to iosonde's API, as the Infinity data source takes it from version 2 on; its own builder."""

    def __init__(self, path: str, root: str, columns: dict[str, str]) -> None:
        self._path = path
        self._root = root
        self._columns = columns

    def build(self) -> ApiQuery:
        """Itself."""
        return self

    def to_json(self) -> dict[str, Any]:
        """As the data source reads it."""
        columns = [
            {
                "selector": name,
                "text": title,
                "type": "number" if name in ("ranks", "began_ns") else "string",
            }
            for name, title in self._columns.items()
        ]
        return {
            "refId": "A",
            "datasource": SOURCE.to_json(),
            "type": "json",
            "source": "url",
            "format": "table",
            "parser": "backend",
            "url": self._path,
            "url_options": {"method": "GET", "data": ""},
            "root_selector": self._root,
            "columns": columns,
            "computed_columns": [
                {"selector": "began_ns / 1000000", "text": "Time", "type": "timestamp_epoch"}
            ],
        }


def runs_table() -> tables.Panel:
    """The newest runs."""
    made = (
        tables.Panel().title("Runs").description("Benchmark runs of the store, the newest first.")
    )
    asked = ApiQuery(
        "/api/runs?limit=100&since_ns=${__from}000000&until_ns=${__to}000000", "runs", COLUMNS
    )
    hidden = model.DataTransformerConfig(
        id_val="organize", options={"excludeByName": {"Began": True}, "indexByName": {"Time": 0}}
    )
    return (
        made.datasource(SOURCE).span(24).height(16).with_target(asked).with_transformation(hidden)
    )


def runs_notes() -> text.Panel:
    """How to connect the data source."""
    return (
        text.Panel()
        .title("Where this comes from")
        .mode(TextMode.MARKDOWN)
        .content(_NOTE)
        .span(24)
        .height(4)
    )
