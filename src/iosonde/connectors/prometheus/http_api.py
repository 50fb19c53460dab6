"""Range queries of a Prometheus server: series of storage exporters between two instants.

Each name of ``prometheus_names`` that the server has is asked for by ``/api/v1/query_range``, at most 11 000 points
at a time (the server's limit), as ``last_over_time(name[step])``: the last reading of each step, and none where none
was made. (A name alone would be repeated for five minutes after its exporter has died.) What passed between two
readings, of which counters may have been reset, is found here and not by the server.
Nothing but http and https is spoken, redirects are not followed (they might carry the token elsewhere), answers are
bounded. A bearer token is taken from ``environment["IOSONDE_PROMETHEUS_TOKEN"]``. Source: Prometheus, "HTTP API".
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any, cast

from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.prometheus.deadline import SlowServerError, opener, within
from iosonde.connectors.prometheus.names import NAMES, series
from iosonde.connectors.source import Item, Settings, Warn
from iosonde.model.errors import InputFileError

KIND = "prometheus"
TOKEN = "IOSONDE_PROMETHEUS_TOKEN"
"""Environment variable with a bearer token."""
MOST_POINTS = 11_000
MOST_BYTES = 256 << 20
MOST_VALUES = 6_000_000
"""Most points, lists and objects in one answer."""
MOST_REQUESTS = 10_000
TIMEOUT_S = 30.0
"""Timeout between bytes."""
WHOLE = 4
"""Deadline of a whole answer, in timeouts."""


def read_range(  # noqa: PLR0917 - a range has two ends and a step
    url: str,
    begin_ns: int,
    end_ns: int,
    step_ns: int,
    settings: Settings,
    warn: Warn,
    *,
    environment: Mapping[str, str] = os.environ,
    timeout_s: float = TIMEOUT_S,
) -> Iterator[Item]:
    """Blocks of every known name in [begin, end]. ``url``: the server's root, ``http://host:9090``.

    Steps are whole ms. ``warn`` is told of a name that the server does not answer for; the others count. Raises
    InputFileError: the server cannot be asked at all, or the request itself makes no sense.
    """
    if step_ns < 1_000_000 or step_ns % 1_000_000 or not 0 <= begin_ns <= end_ns:
        what = f"a range of {end_ns - begin_ns} ns in steps of {step_ns} ns"
        raise InputFileError(what, expected="an end behind the begin, and steps of whole ms")
    many = (end_ns - begin_ns) // step_ns // MOST_POINTS + 1
    if many * len(NAMES) > MOST_REQUESTS:
        what = f"{many} parts of {MOST_POINTS} points for each name"
        raise InputFileError(what, expected="fewer", hint="a longer step")
    server = _Server(url, environment.get(TOKEN, ""), timeout_s)
    parts = list(_parts(begin_ns // 1_000_000, end_ns // 1_000_000, step_ns // 1_000_000))
    gather = Gather("prometheus")
    for done, name in enumerate(_known(server, begin_ns, end_ns), start=1):
        for first_ms, last_ms in parts:
            try:
                _take(
                    server.range(name, first_ms, last_ms, step_ns // 1_000_000),
                    name,
                    settings,
                    gather,
                )
            except SlowServerError:
                raise
            except InputFileError as error:
                warn(error)
                break
            if gather.full:
                yield from gather.blocks()
        if settings.progress is not None:
            settings.progress(done, len(NAMES))
    yield from gather.rest()


def _known(server: _Server, begin_ns: int, end_ns: int) -> list[str]:
    """Known metric names that the server has in that time."""
    said = server.get(
        "/api/v1/label/__name__/values",
        {"start": f"{begin_ns / 1e9:.3f}", "end": f"{end_ns / 1e9:.3f}"},
    )
    there = {name for name in said if isinstance(name, str)} if isinstance(said, list) else set()
    return [name for name in NAMES if name in there]


def _parts(begin_ms: int, end_ms: int, step_ms: int) -> Iterator[tuple[int, int]]:
    """First and last instant of each request, both inclusive; no instant twice."""
    span = (MOST_POINTS - 1) * step_ms
    for first in range(begin_ms, end_ms + 1, MOST_POINTS * step_ms):
        yield first, min(first + span, end_ms)


def _take(answer: Any, name: str, settings: Settings, gather: Gather) -> None:
    """Add the series of one answer. Raises InputFileError: it is no matrix."""
    results = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(results, list) or answer.get("resultType") != "matrix":
        raise InputFileError(f"{name}: the answer is no matrix", expected="Prometheus' HTTP API")
    for result in results:
        labels = result.get("metric") if isinstance(result, dict) else None
        values = result.get("values") if isinstance(result, dict) else None
        if not isinstance(labels, dict) or not isinstance(values, list):
            gather.note("left-out", f"histograms of {name}")
            continue
        found = series(name, {str(k): str(v) for k, v in labels.items()}, settings.system)
        if found is None:
            gather.note("left-out", f"series of {name} that are not read")
            continue
        what, key = found
        give = gather.counter if what.counter else gather.gauge
        for point in values:
            time_ns, value = _point(point)
            if time_ns is None or value is None or (value < 0 and what.counter):
                gather.note("not-a-number", f"{name} of {key.component}")
            else:
                give(key, time_ns, value * what.scale)


def _point(point: Any) -> tuple[int | None, float | None]:
    """Parse ``[1700000000.5, "17"]`` to ns and number."""
    if not isinstance(point, list) or len(point) != 2 or not isinstance(point[1], str):
        return None, None
    second = point[0]
    if isinstance(second, bool) or not isinstance(second, (int, float)) or not 0 <= second < 1e10:
        return None, None
    return round(second * 1000) * 1_000_000, plain(point[1])


class _Server:
    """Client of one server: GET and JSON."""

    def __init__(self, url: str, token: str, timeout_s: float) -> None:
        parts = urllib.parse.urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            what = f"cannot ask {shown(url)}"
            raise InputFileError(what, expected="http://host:port or https://host:port")
        if parts.username is not None:
            raise InputFileError(
                f"a password in the address of {parts.hostname}", expected=f"a token in {TOKEN}"
            )
        if any(c in token for c in "\r\n"):
            raise InputFileError(f"{TOKEN} has more than one line", expected="a bearer token")
        self._root = urllib.parse.urlunsplit(
            (parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")
        )
        self._token, self._timeout_s = token, timeout_s

    def range(self, name: str, first_ms: int, last_ms: int, step_ms: int) -> Any:
        """Run ``query_range`` for one name."""
        # Up to version 2 both ends of a window belong to it: less 1 ms, no reading is in two of them.
        window_ms = max(1, step_ms - 1)
        return self.get(
            "/api/v1/query_range",
            {
                "query": f"last_over_time({name}[{window_ms}ms])",
                "start": f"{first_ms / 1000:.3f}",
                "end": f"{last_ms / 1000:.3f}",
                "step": f"{step_ms / 1000:.3f}",
            },
        )

    def get(self, path: str, query: dict[str, str]) -> Any:
        """Return the ``data`` of an answer. Raises InputFileError."""
        address = f"{self._root}{path}"
        headers = {"Accept": "application/json", "User-Agent": "iosonde"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(
            f"{address}?{urllib.parse.urlencode(query)}", headers=headers
        )
        limit_s = self._timeout_s * WHOLE
        try:
            with (
                within(limit_s) as deadline,
                cast(
                    "http.client.HTTPResponse",
                    opener(deadline).open(request, timeout=self._timeout_s),
                ) as reply,
            ):
                data = reply.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                what = f"{address} answers {error.code}: {_reason(error.read(4096))}"
            hint = f"a token in {TOKEN}" if error.code in (401, 403) else ""
            raise InputFileError(what, expected="Prometheus' HTTP API", hint=hint) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            if deadline.passed:
                what = f"{address} did not answer whole within {limit_s:g} s"
                raise SlowServerError(what, expected="a quicker server") from error
            reason = getattr(error, "reason", None) or error
            raise InputFileError(
                f"cannot ask {address}: {reason}", expected="a server that answers"
            ) from error
        if deadline.passed:
            what = f"{address} did not answer whole within {limit_s:g} s"
            raise SlowServerError(what, expected="a quicker server")
        if len(data) > MOST_BYTES:
            what = f"{address} answers more than {MOST_BYTES} bytes"
            raise InputFileError(what, expected="fewer", hint="a longer step or a shorter range")
        return _data(address, data)


def _data(address: str, data: bytes) -> Any:
    if data.count(b"[") + data.count(b"{") > MOST_VALUES or data.count(b",") > 4 * MOST_VALUES:
        what = f"{address} answers more than {MOST_VALUES} values"
        raise InputFileError(what, expected="fewer", hint="a longer step or a shorter range")
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputFileError(
            f"{address} answers no JSON", expected="Prometheus' HTTP API"
        ) from error
    if not isinstance(said, dict) or said.get("status") != "success":
        raise InputFileError(f"{address} answers {_reason(data)}", expected="status success")
    return said.get("data")


def _reason(data: bytes) -> str:
    """Printable reason from an error's body."""
    try:
        said = json.loads(data)
        text = said.get("error") if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        text = None
    return shown(text if isinstance(text, str) else data.decode("utf-8", "replace"))
