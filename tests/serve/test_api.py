"""What the API answers, over a real store written by a simulated probe."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.engine.states import read_states
from iosonde.model.ops import OPS
from iosonde.serve.app import create
from iosonde.serve.arrivals import Arrivals
from iosonde.serve.history import History
from iosonde.serve.series import SpanCache
from iosonde.weather.slowdown.findings import from_state
from iosonde.weather.slowdown.words import say
from iosonde.weather.store import Store
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, MINUTE, NOW, SECOND

ONSET = NOW - 12 * MINUTE
FAULTS = [
    {"op": "data_read", "after": "48m", "multiply": 3.0},
    {"op": "md_create", "after": "35m", "for": "25s", "hang": True},
    {"op": "data_write", "after": "40m", "for": "8s", "error": "EIO"},
]
WINDOW_COLUMNS = (
    *("start_ns", "n_due", "n_seen", "q50_ns", "q50_lower_ns", "q50_upper_ns", "q90_ns", "max_ns"),
    *("baseline_ns", "slowdown", "slowdown_lower", "slowdown_upper", "slow", "host_busy"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An hour of two targets; the first hour's segment is sealed, the rest is spool."""
    folder = tmp_path_factory.mktemp("store")
    stores.simulate(folder, HOUR, stores.target("/work", FAULTS), stores.target("/home"))
    stores.say_it_runs(folder, NOW)
    stores.seal_first(folder)
    return folder


@pytest.fixture(scope="module")
def client(root: Path):
    with TestClient(create(root, clock=lambda: NOW), base_url="http://127.0.0.1") as client:
        yield client


def series(client: TestClient, **query: object) -> dict:
    query = {"host": stores.HOST, "target": "/work", **query}
    response = client.get("/api/series", params=query)
    assert response.status_code == 200, response.text
    return response.json()


def test_targets_carry_the_sentence_that_the_terminal_says(client: TestClient, root: Path) -> None:
    targets = client.get("/api/targets", params={"zone": "Europe/Berlin"}).json()
    assert [t["target"] for t in targets] == ["/work", "/home"], "the worst first"
    from zoneinfo import ZoneInfo

    states = {state["target"]: state for state in read_states(root)}
    for target in targets:
        state = states[target["target"]]
        assert target["sentence"] == say(from_state(state, NOW), ZoneInfo("Europe/Berlin"))
        assert target["state"]["ops"] == state["ops"]
        assert target["as_of_ns"] == NOW
    assert [(t["severity"], t["kind"]) for t in targets] == [("slow", "slow"), ("ok", "usual")]
    assert "reads on /work are" in targets[0]["sentence"]


def test_a_zone_changes_the_words_only(client: TestClient) -> None:
    berlin, utc = (
        client.get("/api/targets", params={"zone": zone}).json()[0]["sentence"]
        for zone in ("Europe/Berlin", "UTC")
    )
    assert berlin != utc
    assert berlin.rpartition("since")[0] == utc.rpartition("since")[0]


def test_the_known_slowdown_is_found_where_it_was_put(client: TestClient) -> None:
    answer = series(client, since_ns=NOW - 40 * MINUTE, window_ns=MINUTE)
    for op in OPS:
        windows = answer["ops"][op]["windows"]
        assert set(windows) == set(WINDOW_COLUMNS)
        assert len({len(column) for column in windows.values()}) == 1
        slow = [s for s, flag in zip(windows["start_ns"], windows["slow"], strict=True) if flag]
        if op == "data_read":
            whole = [start for start in windows["start_ns"] if ONSET <= start < NOW - MINUTE]
            assert slow[: len(whole)] == whole or slow[1 : len(whole) + 1] == whole
        else:
            assert slow == []
    reads = answer["ops"]["data_read"]["windows"]
    inside = [i for i, start in enumerate(reads["start_ns"]) if ONSET <= start < NOW - MINUTE]
    covered = [reads["slowdown_lower"][i] <= 3.0 <= reads["slowdown_upper"][i] for i in inside]
    assert sum(covered) >= len(inside) - 2


def test_every_row_of_the_range_is_a_point(client: TestClient) -> None:
    answer = series(client, since_ns=NOW - 30 * MINUTE, window_ns=MINUTE)
    for op in OPS:
        data = answer["ops"][op]
        points = data["points"]
        assert data["cells"] is None
        assert data["n_points"] == len(points["due_ns"]) == sum(data["windows"]["n_due"])
        assert points["due_ns"] == sorted(points["due_ns"])
        assert all(isinstance(due, int) for due in points["due_ns"])
        for due, response, service in zip(
            points["due_ns"], points["response_ns"], points["service_ns"], strict=True
        ):
            assert answer["since_ns"] <= due
            assert response is None or isinstance(response, int)
            assert service is None or response is None or service <= response
    outcomes = {op: set(answer["ops"][op]["points"]["outcome"]) for op in OPS}
    assert outcomes["data_write"] == {"ok", "EIO"}
    assert outcomes["md_create"] == {"ok", "skipped"}
    assert outcomes["md_stat"] == {"ok"}


def test_a_skipped_tick_was_felt_until_the_hang_ended(client: TestClient) -> None:
    creates = series(client, since_ns=NOW - 30 * MINUTE)["ops"]["md_create"]["points"]
    response = [
        f
        for f, outcome in zip(creates["response_ns"], creates["outcome"], strict=True)
        if outcome == "skipped"
    ]
    assert 22 <= len(response) <= 25
    assert max(response) > 22 * SECOND


def test_points_say_what_was_held_up(client: TestClient) -> None:
    answer = series(client, since_ns=NOW - 30 * MINUTE)
    for op in OPS:
        points = answer["ops"][op]["points"]
        waited = [
            outcome == "ok" and response - service > SECOND // 10
            for response, service, outcome in zip(
                points["response_ns"], points["service_ns"], points["outcome"], strict=True
            )
            if response is not None or outcome != "ok"
        ]
        assert points["held_up"] == waited, op


def test_what_has_no_number_is_null(client: TestClient) -> None:
    answer = series(client, since_ns=NOW - HOUR, window_ns=MINUTE)
    first = answer["ops"]["md_stat"]["windows"]
    assert first["slowdown"][:5] == [None] * 5, "learning"
    assert first["baseline_ns"][:5] == [None] * 5
    assert first["slow"][:5] == [False] * 5
    few = series(client, since_ns=NOW - 10 * MINUTE, window_ns=4 * SECOND)["ops"]["md_stat"]
    assert few["windows"]["n_due"][3] == 4
    assert few["windows"]["q50_ns"][3] is None, "a median of 4 has no interval"


def test_too_many_points_are_counted_exactly(tmp_path: Path) -> None:
    stores.simulate(
        tmp_path,
        6 * HOUR,
        stores.target("/big", [{"op": "data_write", "after": "1h", "for": "90s", "error": "EIO"}]),
    )
    with TestClient(create(tmp_path, clock=lambda: NOW), base_url="http://127.0.0.1") as client:
        answer = series(client, target="/big", since_ns=NOW - 6 * HOUR, window_ns=5 * MINUTE)
        for op in OPS:
            data = answer["ops"][op]
            cells = data["cells"]
            assert data["points"] is None
            counted = sum(cells["ok"]["count"]) + sum(cells["failed"]["count"])
            assert data["n_points"] == counted + cells["n_without_latency"] == 6 * 3600
            assert len(cells["edges_ns"]) >= max(cells["ok"]["latency"]) + 2
            assert sum(cells["failed"]["count"]) == (90 if op == "data_write" else 0)


def test_windows_alone(client: TestClient) -> None:
    whole = series(client, since_ns=NOW - 20 * MINUTE)
    lean = series(client, since_ns=NOW - 20 * MINUTE, points="false")
    for op in OPS:
        assert lean["ops"][op]["points"] is None
        assert lean["ops"][op]["n_points"] is None
        assert lean["ops"][op]["windows"] == whole["ops"][op]["windows"]


def test_a_target_that_nobody_watched_is_empty(client: TestClient) -> None:
    answer = series(client, target="/nowhere")
    assert all(data["n_points"] == 0 for data in answer["ops"].values())
    assert all(data["windows"]["start_ns"] == [] for data in answer["ops"].values())


def test_a_range_in_the_past(client: TestClient) -> None:
    answer = series(
        client, since_ns=NOW - 30 * MINUTE, until_ns=NOW - 20 * MINUTE, window_ns=MINUTE
    )
    points = answer["ops"]["data_read"]["points"]
    assert max(points["due_ns"]) < NOW - 20 * MINUTE
    assert 598 <= len(points["due_ns"]) <= 660


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/series", "host is missing"),
        ("/api/series?host=a", "target is missing"),
        ("/api/series?host=a&target=b&since_ns=soon", "integer number of nanoseconds"),
        ("/api/series?host=a&target=b&since_ns=-5", "integer number of nanoseconds"),
        ("/api/series?host=a&target=b&since_ns=1.5", "integer number of nanoseconds"),
        ("/api/series?host=a&target=b&since_ns=%D9%A1", "integer number of nanoseconds"),
        ("/api/series?host=a&target=b&window_ns=0", "from 1000000 to"),
        ("/api/series?host=a&target=b&since_ns=9&until_ns=9", "before the end"),
        ("/api/series?host=a&target=b&since_ns=0&window_ns=1000000000", "at most 5000 windows"),
        ("/api/series?host=a&target=b&points=yes", "true or false"),
        ("/api/series?host=a&target=b&windw_ns=5", "window_ns"),
        ("/api/targets?zone=Mars/Olympus", "Europe/Berlin"),
        ("/api/targets?zone=../../etc/passwd", "Europe/Berlin"),
        ("/api/feed?host=a", "both or none"),
        ("/api/feed?after_ns=x", "integer number of nanoseconds"),
        ("/api/about?x=1", "no parameters"),
    ],
)
def test_a_wrong_request_says_what_was_expected(client: TestClient, path: str, said: str) -> None:
    response = client.get(path)
    assert response.status_code == 400
    error = response.json()["error"]
    assert set(error) == {"what", "expected", "try"}
    assert said in " ".join(error.values())


def test_about_tells_what_the_page_explains(client: TestClient, root: Path) -> None:
    about = client.get("/api/about").json()
    assert (about["store"], about["names"]) == (root.name, "hashed")
    assert about["op_words"]["md_read"] == "small reads"
    assert (about["slow_at"], about["slow_lower_at"]) == (2.0, 1.5)


def test_large_answers_are_packed_for_who_can_read_it(client: TestClient) -> None:
    query = {"host": stores.HOST, "target": "/work", "since_ns": NOW - 30 * MINUTE}
    packed = client.get("/api/series", params=query)
    plain = client.get("/api/series", params=query, headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json()["ops"] == plain.json()["ops"]


def test_stretches_of_the_past_do_not_depend_on_what_was_asked_before(root: Path) -> None:
    def fresh() -> SpanCache:
        whole = Store(root)
        known = History(whole, Arrivals(root, lambda: NOW)).known
        return SpanCache(whole, known)

    kept, wide = fresh(), 10 * MINUTE
    ends = [NOW - step * wide for step in range(1, 6)]
    found = [
        kept.of(stores.HOST, "/work", end - wide, end, NOW) for end in (*ends, *reversed(ends))
    ]
    assert found == [
        fresh().of(stores.HOST, "/work", end - wide, end, NOW) for end in (*ends, *reversed(ends))
    ]
    assert any(found), "there is a slow stretch to find"
