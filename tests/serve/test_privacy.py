"""No name of a user, account or job leaves the server unless the site's policy says so."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from iosonde.model.errors import StoreError, UsageError
from iosonde.serve.app import create
from iosonde.serve.privacy.policy import KEY, POLICY, pseudonyms, read_policy
from iosonde.serve.privacy.pseudonyms import KEY_BYTES, Pseudonyms
from tests.kit.jobs import load_made
from tests.kit.jobs.jobs_made import simulated
from tests.kit.jobs.load_made import HOG_NS
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, NOW

USER, ACCOUNT, NAME, JOB = "carlottasecret", "accountsecret", "namesecret", "ls.jobsecret"
WANTED: dict[str, Any] = {
    "kind": "timeline",
    "job": "12",
    "run": "none",
    "a": "none",
    "b": "other",
    "host": stores.HOST,
    "target": "/work",
    "op": "data_read",
    "since_ns": HOG_NS[0],
    "until_ns": HOG_NS[1],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(USER) / "store"
    folder.mkdir()
    stores.simulate(folder, HOUR, stores.target("/work"))
    return folder


def asking(root: Path, names: Pseudonyms | None = None) -> TestClient:
    load = load_made.history(days=0.3, jobs=100)
    runs = load.runs
    for column, secret in (
        (runs.user, USER),
        (runs.account, ACCOUNT),
        (runs.name, NAME),
        (runs.job_id, JOB),
    ):
        column[:] = [secret if one % 2 else f"{secret}{one}" for one in range(len(column))]
    jobs = simulated()
    jobs.job_id[3] = JOB
    for label, secret in (("user", USER), ("account", ACCOUNT), ("name", NAME)):
        jobs.labels[label] = np.full(len(jobs), secret, dtype=object)
    jobs.labels["state"] = np.full(len(jobs), f"CANCELLED by {USER}", dtype=object)
    jobs.motif[5] = NAME
    app = create(root, clock=lambda: NOW, jobs=lambda: jobs, loads=lambda: load, names=names)
    return TestClient(app, base_url="http://127.0.0.1")


def addresses(described: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every route with every value of its enumerated parameters, others as they are needed."""
    found: list[tuple[str, dict[str, Any]]] = []
    for path, methods in described["paths"].items():
        if path == "/api/feed":
            continue
        parameters = methods["get"].get("parameters", [])
        known = {one["name"]: WANTED[one["name"]] for one in parameters if one["name"] in WANTED}
        if path in ("/api/jobs", "/api/climate", "/api/load", "/api/load/cells"):
            known = {}
        found.append((path, known))
        for one in parameters:
            choices = one["schema"].get("enum", [])
            found += [(path, {**known, one["name"]: choice}) for choice in choices]
    return found


def test_no_route_names_anybody(root: Path) -> None:
    with asking(root) as client:
        described = client.get("/openapi.json").json()
        seen = 0
        for path, params in addresses(described):
            answer = client.get(path, params=params)
            assert answer.status_code in (200, 404), (path, params, answer.text[:200])
            seen += answer.status_code == 200
            text = answer.content.decode("utf-8", "replace") + str(answer.headers)
            for secret in (USER, ACCOUNT, NAME, JOB):
                assert secret not in text, (path, params)
        assert seen > 30, "the walk has met real answers"
        load = client.get("/api/load").json()
        assert load["hashed"]
        assert all(one["name"].startswith("user-") for one in load["columns"])
        for by, name in (("user", USER), ("job", JOB)):
            asked = {"by": by, "name": name, "since_ns": HOG_NS[0], "until_ns": HOG_NS[1]}
            assert client.get("/api/load/jobs", params=asked).json()["total"] == 0, "no oracle"


def test_the_walk_finds_names_where_they_are_shown(root: Path) -> None:
    """The test above can fail."""
    with asking(root, Pseudonyms(None)) as client:
        described = client.get("/openapi.json").json()
        texts = [client.get(path, params=params).text for path, params in addresses(described)]
    for secret in (USER, ACCOUNT, NAME, JOB):
        assert any(secret in text for text in texts), secret


def test_an_alias_leads_to_its_jobs(root: Path) -> None:
    with asking(root) as client:
        first = client.get("/api/load", params={"by": "user"}).json()["columns"][0]["name"]
        asked = {"by": "user", "name": first, "since_ns": HOG_NS[0], "until_ns": HOG_NS[1]}
        jobs = client.get("/api/load/jobs", params=asked).json()["jobs"]
        assert {job["user"] for job in jobs} == {first}
        listed = client.get("/api/jobs", params={"limit": 500}).json()["jobs"]
        alias = next(job["job"] for job in listed if not job["job"].isdigit())
        assert client.get("/api/umami", params={"job": alias}).status_code == 200


def test_aliases_are_stable_within_a_store_and_differ_between_stores(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    made = [
        pseudonyms(folder, "hashed", loopback=True, randomness=os.urandom)
        for folder in (one, one, other)
    ]
    aliases = [names.of("user", "alice") for names in made]
    assert aliases[0] == aliases[1] != aliases[2]
    assert aliases[0] != made[0].of("account", "alice").replace("account", "user")
    assert len(aliases[0]) == len("user-3f9abc")
    assert stat.S_IMODE((one / KEY).stat().st_mode) == 0o600
    column = made[0].column("user", np.array(["alice", "", "bob", "alice"], object))
    assert column.tolist() == [aliases[0], "", made[0].of("user", "bob"), aliases[0]]


def test_a_store_without_names_gets_no_key(root: Path, tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        for path in ("/api/jobs", "/api/load", "/api/about"):
            client.get(path)
    assert not (tmp_path / KEY).exists()


@pytest.mark.parametrize("job", ["4711", "4711_3", "4711_[1-9]", "4711.0", "4711[7]"])
def test_a_number_of_a_scheduler_is_no_name(job: str) -> None:
    assert Pseudonyms(lambda: bytes(KEY_BYTES)).of("job", job) == job


@pytest.mark.parametrize("job", ["ls.alice", "4711:alice", "alice", "4711.alice", "4711 alice"])
def test_an_id_with_a_name_in_it_is_hashed(job: str) -> None:
    assert Pseudonyms(lambda: bytes(KEY_BYTES)).of("job", job).startswith("job-")


@pytest.mark.parametrize(
    ("said", "loopback", "hashed"),
    [
        (None, True, True),
        ("hashed", True, True),
        ("loopback", True, False),
        ("loopback", False, True),
        ("shown", False, False),
    ],
)
def test_the_policy_decides(tmp_path: Path, said: str | None, loopback: bool, hashed: bool) -> None:
    if said is not None:
        (tmp_path / POLICY).write_text(f'names = "{said}"\n')
    shown = read_policy(tmp_path)
    names = pseudonyms(tmp_path, shown, loopback=loopback, randomness=os.urandom)
    assert names.hashed == hashed


@pytest.mark.parametrize("text", ['names = "everybody"', "names = 1", "names =", "\udcff"])
def test_a_policy_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / POLICY).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=POLICY):
        read_policy(tmp_path)


@pytest.mark.parametrize("text", ["", "abc", "00" * 31, "zz" * 32])
def test_a_damaged_key_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / KEY).write_text(text)
    names = pseudonyms(tmp_path, "hashed", loopback=False, randomness=os.urandom)
    with pytest.raises(StoreError, match="key of names"):
        names.of("user", "alice")
