"""Who may ask what, and what happens when the store is not as it should be."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.model.errors import DamagedFileWarning
from iosonde.serve.app import create
from iosonde.weather.seal import seal
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, NOW

SERIES = {"host": stores.HOST, "target": "/work", "since_ns": NOW - 20 * MINUTE}


def client_of(root: Path, **options: object) -> TestClient:
    app = create(root, clock=lambda: NOW, **options)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A built page, as far as the server is concerned."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>iosonde</title>")
    (folder / "assets" / "index-abc.js").write_text("0")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    return folder


@pytest.mark.parametrize("path", ["/", "/api/targets", "/api/nothing", "/api/series", "/api/feed"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(tmp_path: Path, path: str, method: str) -> None:
    response = client_of(tmp_path).request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD"
    assert "GET or HEAD" in response.json()["error"]["expected"]


@pytest.mark.parametrize("path", ["/", "/api/targets", "/api/feed", "/api/about", "/api/nothing"])
def test_head_is_get_without_a_body(tmp_path: Path, page: Path, path: str) -> None:
    client = client_of(tmp_path, static=page)
    response = client.head(path)
    assert response.content == b""
    assert response.status_code == (404 if path == "/api/nothing" else 200)


@pytest.mark.parametrize("path", ["/", "/assets/index-abc.js", "/api/targets", "/api/series", "/x"])
def test_every_answer_binds_the_browser(tmp_path: Path, page: Path, path: str) -> None:
    headers = client_of(tmp_path, static=page).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]:8765", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example:8765", 421),
        ("", 421),
    ],
)
def test_a_server_on_the_loopback_answers_to_loopback_names(
    tmp_path: Path, name: str, status: int
) -> None:
    answer = client_of(tmp_path).get("/api/targets", headers={"host": name})
    assert answer.status_code == status
    assert client_of(tmp_path, hosts=None).get("/api/targets", headers={"host": name}).is_success


def test_the_page_and_how_long_it_may_be_kept(tmp_path: Path, page: Path) -> None:
    client = client_of(tmp_path, static=page)
    assert "iosonde" in client.get("/").text
    assert client.get("/").headers["cache-control"] == "no-cache"
    assert "immutable" in client.get("/assets/index-abc.js").headers["cache-control"]
    assert client.get("/link").status_code == 404, "symbolic links are not followed"
    assert client.get("/../secret").status_code == 404
    assert client.get("/%2e%2e/secret").status_code == 404


def test_without_a_built_page_it_says_how_to_build_it(tmp_path: Path) -> None:
    response = client_of(tmp_path, static=tmp_path / "missing").get("/")
    assert response.status_code == 503
    assert "make build" in response.text


def test_an_empty_store_is_no_error(tmp_path: Path) -> None:
    client = client_of(tmp_path / "not" / "there")
    assert client.get("/api/targets").json() == []
    answer = client.get("/api/series", params=SERIES)
    assert answer.status_code == 200
    assert answer.json()["ops"]["data_read"]["n_points"] == 0


def test_a_damaged_parquet_file_is_named_and_the_states_still_speak(tmp_path: Path) -> None:
    stores.simulate(tmp_path, 20 * MINUTE, stores.target("/work"))
    stores.say_it_runs(tmp_path, NOW)
    (file,) = seal(tmp_path)
    file.write_bytes(b"PAR1" + b"\0" * 100)
    client = client_of(tmp_path)
    with pytest.warns(DamagedFileWarning, match=file.name):
        response = client.get("/api/series", params=SERIES)
    with pytest.warns(DamagedFileWarning, match=file.name):
        targets = client.get("/api/targets").json()
    assert targets[0]["kind"] == "usual"
    assert response.status_code == 200
    (left,) = response.json()["left_out"]
    assert left["path"] == f"{tmp_path.name}/{file.relative_to(tmp_path)}", (
        "no path of the server leaks"
    )
    assert str(tmp_path) not in response.text
    assert "damaged" in left["what"]
    assert left["try"]
    assert client.get("/api/about").json()["left_out"] == [left]
    assert "Traceback" not in response.text


def test_a_damaged_spool_segment_hides_no_other(tmp_path: Path) -> None:
    stores.simulate(tmp_path, 20 * MINUTE, stores.target("/work"))
    (file,) = tmp_path.glob("spool/*/*.spool")
    file.with_name("bad-000000.spool").write_bytes(b"nonsense" * 1000)
    with pytest.warns(DamagedFileWarning, match="bad-000000"):
        response = client_of(tmp_path).get("/api/series", params=SERIES)
    assert response.status_code == 200
    assert response.json()["ops"]["data_read"]["n_points"] > 0


def test_a_damaged_state_hides_no_other(tmp_path: Path) -> None:
    stores.simulate(tmp_path, 20 * MINUTE, stores.target("/home"), stores.target("/work"))
    stores.say_it_runs(tmp_path, NOW)
    (broken,) = tmp_path.glob("state/*/work*.json")
    broken.write_text('{"schema_version": 1, "target": ["<script>"]}')
    targets = client_of(tmp_path).get("/api/targets").json()
    by_kind = {target["kind"]: target for target in targets}
    assert by_kind["usual"]["target"] == "/home"
    assert by_kind["damaged"]["severity"] == "unknown"


def test_a_store_that_is_a_file_is_an_answer_not_a_traceback(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.write_text("")
    response = client_of(root).get("/api/series", params=SERIES)
    assert response.status_code in (200, 503)
    assert "Traceback" not in response.text


def test_a_target_whose_probe_left_no_state_is_still_listed(tmp_path: Path) -> None:
    stores.simulate(tmp_path, 20 * MINUTE, stores.target("/work"))
    for path in tmp_path.glob("state/*/*"):
        path.unlink()
    (target,) = client_of(tmp_path).get("/api/targets").json()
    assert (target["host"], target["target"]) == (stores.HOST, "/work")
    assert target["severity"] == "unknown"
    assert target["sentence"].startswith("unknown: no news of /work since")


def test_a_mistake_of_ours_is_json_without_its_traceback(tmp_path: Path) -> None:
    def broken_clock() -> int:
        raise ZeroDivisionError("secret detail")

    app = create(tmp_path, clock=broken_clock)
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
    response = client.get("/api/series", params=SERIES)
    assert response.status_code == 500
    assert "made a mistake" in response.json()["error"]["what"]
    assert "secret" not in response.text
    assert "content-security-policy" in response.headers
