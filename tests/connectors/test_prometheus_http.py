"""What a range query is asked for, and what answers do. A real Prometheus: tests/services/test_prometheus_range.py."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from iosonde.connectors.prometheus import http_api as prometheus_http
from iosonde.connectors.source import Settings
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import MetricBlock

S = 1_000_000_000
NAME = "lustre_read_bytes_total"


class Asked:
    def __init__(self) -> None:
        self.ranges: list[dict[str, str]] = []
        self.tokens: set[str | None] = set()
        self.answer: bytes | None = None
        self.code = 200


@contextmanager
def server() -> Iterator[tuple[str, Asked]]:
    """A server that speaks the API: hostile answers no real one gives can be set."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked.tokens.add(self.headers.get("Authorization"))
            body = json.dumps({"status": "success", "data": [NAME, "up"]}).encode()
            code = 200
            if parts.path.endswith("query_range"):
                asked.ranges.append({k: v[0] for k, v in parse_qs(parts.query).items()})
                body, code = self.matrix() if asked.answer is None else asked.answer, asked.code
            self.send_response(code)
            if code == 302:
                self.send_header("Location", "http://192.0.2.1/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def matrix(self) -> bytes:
            query = asked.ranges[-1]
            first, last, step = (float(query[k]) for k in ("start", "end", "step"))
            times = [first + n * step for n in range(int((last - first) / step + 1e-9) + 1)]
            assert len(times) <= 11_000
            values = [[t, str(2 * t)] for t in times]
            result = [{"metric": {"ost": "fs-OST0000"}, "values": values}]
            return json.dumps(
                {"status": "success", "data": {"resultType": "matrix", "result": result}}
            ).encode()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as there:
        thread = threading.Thread(target=there.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{there.server_port}", asked
        finally:
            there.shutdown()
            thread.join()


def ask(
    url: str, end_s: int, step_ns: int = S, token: str = ""
) -> tuple[list[MetricBlock], list[str]]:
    told: list[str] = []
    environment = {prometheus_http.TOKEN: token} if token else {}
    items = prometheus_http.read_range(
        url,
        0,
        end_s * S,
        step_ns,
        Settings(),
        lambda e: told.append(str(e)),
        environment=environment,
        timeout_s=5,
    )
    return [item for item in items if isinstance(item, MetricBlock)], told


def test_long_ranges_are_asked_for_in_parts() -> None:
    with server() as (url, asked):
        (block,), told = ask(url, 25_000)
    assert [(r["start"], r["end"]) for r in asked.ranges] == [
        ("0.000", "10999.000"), ("11000.000", "21999.000"), ("22000.000", "25000.000"),
    ]  # fmt: skip
    assert (len(block.time_ns), block.metric, block.components) == (
        25_000,
        "read_bytes",
        ("fs-OST0000",),
    )
    assert (block.value == 2).all()
    assert not told


def test_the_token_goes_to_the_server_only() -> None:
    with server() as (url, asked):
        ask(url, 3, token="secret")
        assert asked.tokens == {"Bearer secret"}
        asked.code = 302
        blocks, told = ask(url, 3, token="secret")
    assert not blocks
    assert "answers 302" in told[0]
    assert "secret" not in told[0]


@pytest.mark.parametrize(
    ("answer", "code", "what"),
    [
        (b"[" * 100_000, 200, "no JSON"),
        (b'{"status": "error", "error": "too long"}', 422, "too long"),
        (
            b'{"status": "success", "data": {"resultType": "vector", "result": []}}',
            200,
            "no matrix",
        ),
        (b"denied", 401, prometheus_http.TOKEN),
        (b"x" * 2000, 200, "more than 1000 bytes"),
    ],
)
def test_answers_that_are_none(
    answer: bytes, code: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus_http, "MOST_BYTES", 1000 if answer[:1] == b"x" else 1 << 20)
    with server() as (url, asked):
        asked.answer, asked.code = answer, code
        blocks, told = ask(url, 3)
    assert not blocks
    assert what in told[0]


def test_odd_points_are_missing() -> None:
    values = [[1, "5"], [2, "NaN"], [3, "7"], ["x", "1"], [4], [5, 8], [1e300, "1"], [6, "9"]]
    result = [
        {"metric": {"ost": "fs-OST0000"}, "values": values},
        {"metric": {}, "histograms": []},
        5,
    ]
    with server() as (url, asked):
        asked.answer = json.dumps(
            {"status": "success", "data": {"resultType": "matrix", "result": result}}
        ).encode()
        (block,), told = ask(url, 9)
    assert (block.value.ravel().tolist(), block.step_ns.tolist()) == ([2, 2], [2 * S, 3 * S])
    assert {note.flag: note.n for note in block.notes} == {"not-a-number": 5, "left-out": 2}
    assert not told


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://h/", "h:9090", "", "http://", "http://u:p@h/"]
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(InputFileError, match=r"cannot ask|password"):
        ask(url, 3)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(InputFileError, match="cannot ask"):
        ask("http://127.0.0.1:9", 3)


@pytest.mark.parametrize(("end_s", "step_ns"), [(-1, S), (5, 0), (5, 1500), (10**8, 1_000_000)])
def test_ranges_that_make_no_sense(end_s: int, step_ns: int) -> None:
    with pytest.raises(InputFileError, match=r"a range of|parts of"):
        ask("http://127.0.0.1:9", end_s, step_ns)
