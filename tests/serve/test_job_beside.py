"""A job beside the storage and the load of its time, by the API: known from a scheduler alone, measured, unknown."""

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.truth.why.incidents import Incident, incident
from iosonde.jobs.load.course import course_of
from iosonde.serve.app import create
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.why.links import Kind
from tests.kit.jobs import load_made
from tests.kit.jobs.jobs_made import simulated
from tests.kit.samples import stores

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def hog(tmp_path_factory: pytest.TempPathFactory) -> Incident:
    return incident(Kind.ONE_JOB, 11, tmp_path_factory.mktemp("hog"))


def asking(made: Incident, names: Pseudonyms) -> TestClient:
    app = create(made.root, clock=lambda: made.now_ns, names=names)
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def client(hog: Incident) -> TestClient:
    return asking(hog, Pseudonyms(None))


def test_a_job_of_the_scheduler_alone_is_listed_and_answered(
    client: TestClient, hog: Incident
) -> None:
    (job,) = hog.jobs
    listed = client.get("/api/jobs", params={"search": job}).json()
    assert [one["job"] for one in listed["jobs"]] == [job]
    assert listed["jobs"][0]["performance"] is None
    answer = client.get("/api/job", params={"job": job, "zone": "UTC"}).json()
    assert answer["known"]
    assert answer["scheduled"]
    assert answer["begin_ns"] < hog.at_ns < answer["end_ns"]
    length = (answer["end_ns"] - answer["begin_ns"]) / 1e9
    by_target = {one["target"]: one for one in answer["storage"]}
    assert set(hog.targets) < set(by_target)
    for target, one in by_target.items():
        assert one["slow_s"] + one["clear_s"] + one["unknown_s"] == pytest.approx(length)
        slow = target in hog.targets
        assert (one["slow_s"] > 0.8 * length) is slow
        assert bool(one["stretches"]) is slow
    assert answer["load"]["share"] > 0.9
    assert {one["target"] for one in answer["events"]} == set(hog.targets)
    why = client.get("/api/why", params={"event": answer["events"][0]["id"]})
    assert why.status_code == 200


def test_aliases_stand_for_every_name(hog: Incident) -> None:
    hidden = asking(hog, Pseudonyms(lambda: KEY))
    answer = hidden.get("/api/job", params={"job": hog.jobs[0]})
    assert answer.status_code == 200
    assert "mallory" not in answer.text
    assert "user-" in answer.text
    told = hidden.get("/api/annotations", params={"to": hog.now_ns // 10**6, "why": 1})
    assert "user-" in told.text
    assert "mallory" not in told.text


def test_a_job_that_is_in_no_record_is_not_found(client: TestClient) -> None:
    answer = client.get("/api/job?job=nobody")
    assert answer.status_code == 404
    assert "nobody" in answer.json()["error"]["what"]


def test_of_a_measured_job_it_says_what_probes_saw(tmp_path) -> None:
    table = simulated()
    app = create(tmp_path, clock=lambda: stores.NOW, jobs=lambda: table)
    asked = TestClient(app, base_url="http://127.0.0.1")
    answer = asked.get("/api/job?job=12").json()
    assert answer == {"known": False, "sentence": answer["sentence"]}
    assert answer["sentence"].startswith("what job 12 met is not known")


def test_the_course_of_a_job_adds_up_to_its_operations() -> None:
    history = load_made.history(days=1.0, jobs=300)
    begin, end = load_made.HOG_NS
    course = course_of(history, load_made.HOG_JOB, (begin, end), 50)
    assert course is not None
    assert len(course.own_per_s) <= 50
    known = ~np.isnan(course.own_per_s)
    assert course.own_per_s[known].max() == pytest.approx(2 * load_made.HOG_PER_S, rel=1e-3)
    assert (course.own_per_s[known] <= course.all_per_s[known] * (1 + 1e-6)).all()
    whole = 2 * load_made.HOG_PER_S * (end - begin) / 1e9
    assert course.ops == pytest.approx(whole, rel=0.05)
    assert course_of(history, "no such job", (begin, end), 50) is None
    assert course_of(history, load_made.HOG_JOB, (end + 10**12, end + 2 * 10**12), 50) is None
