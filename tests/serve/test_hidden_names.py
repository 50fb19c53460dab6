"""What every route, form, error and picture says of a store filled with real logs and records: no name in it."""

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from iosonde.serve.privacy.pseudonyms import KEY_BYTES, Pseudonyms
from tests.kit.hidden_words import (
    ACCOUNT,
    OF_LOG,
    PROGRAM,
    USER,
    Filled,
    fill,
    found_in,
    texts,
)
from tests.kit.jobs import load_made
from tests.kit.jobs.load_made import HOG_NS
from tests.kit.records.darshan_made import needs_recorded
from tests.kit.samples import stores

pytestmark = [pytest.mark.service, needs_recorded]

HIDDEN = Pseudonyms(lambda: bytes(range(KEY_BYTES)))
FEWEST = 190
Asked = tuple[str, dict[str, Any]]


class Answer(NamedTuple):
    asked: Asked
    status: int
    texts: list[str]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return fill(tmp_path_factory.mktemp("filled"))


def serving(filled: Filled, names: Pseudonyms) -> Any:
    history = load_made.history(days=0.3, jobs=100)
    runs = history.runs
    for column, word in ((runs.user, USER), (runs.account, ACCOUNT), (runs.name, PROGRAM)):
        column[:] = word
    runs.job_id[::2] = [f"ls.{USER}.{one}" for one in range(len(runs.job_id[::2]))]
    now_ns = filled.made.now_ns
    return stores.running(filled.root, clock=lambda: now_ns, loads=lambda: history, names=names)


def walk(filled: Filled, names: Pseudonyms) -> list[Answer]:
    """The answers to every question of ``questions``, and the begin of a feed."""
    found = []
    with (
        serving(filled, names) as (address, _),
        httpx2.Client(base_url=address, timeout=120) as client,
    ):
        for path, params in questions(filled, client, names):
            answer = client.get(path, params=params)
            told = [*texts(answer.content), str(answer.headers)]
            found.append(Answer((path, params), answer.status_code, told))
        with client.stream("GET", "/api/feed") as feed:
            begin = "\n".join(itertools.islice(feed.iter_lines(), 12))
        found.append(Answer(("/api/feed", {}), 200, [begin]))
    return found


def questions(filled: Filled, client: httpx2.Client, names: Pseudonyms) -> Iterator[Asked]:
    """Every route with every value of each enumerated parameter, with jobs as they leave, and with wrong values."""
    routes = client.get("/openapi.json").json()["paths"]
    usual = wanted(filled)
    jobs = client.get("/api/jobs", params={"limit": 1000}).json()["jobs"]
    for path, methods in routes.items():
        if path == "/api/feed":
            continue
        parameters = methods["get"].get("parameters", [])
        known = {one["name"]: usual[one["name"]] for one in parameters if one["name"] in usual}
        some = [known]
        if path in ("/api/umami", "/api/job"):
            some = [{**known, "job": job, "run": run} for job, run in told_apart(jobs)]
        for one in some:
            yield path, one
            for parameter in parameters:
                if parameter["schema"].get("type") != "array":
                    choices = parameter["schema"].get("enum", [])
                    yield from ((path, {**one, parameter["name"]: choice}) for choice in choices)
        yield path, {**known, "nonsense": "x"}
        for parameter in parameters:
            yield path, {**known, parameter["name"]: WRONG.get(parameter["name"], "nobody")}
    yield from (("/api/load", {"by": by, "format": "csv"}) for by in ("user", "account", "name"))
    yield from (("/api/jobs", {"search": word}) for word in ("shared", "app-", "user-", "mpi"))
    yield from (("/api/why", {"target": one}) for one in filled.made.targets)
    yield from (("/", {}), ("/nothing", {}), ("/openapi.json", {}), ("/api/openapi.json", {}))
    when = filled.made.now_ns // 10**6
    yield "/api/annotations", {"to": when, "from": when - 80 * 86_400_000, "why": 3}


WRONG = {"job": USER[:6], "run": PROGRAM[:6], "motif": PROGRAM[:6], "metric": OF_LOG[:6]}
"""Where a near word may be proposed."""


def told_apart(jobs: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(job, run) of a run of each motif, by number and by alias; and a job of several runs."""
    found = {}
    for job in jobs:
        found.setdefault((job["motif"], job["job"].startswith("job-")), (job["job"], job["run"]))
    several = next(job["job"] for job in jobs if job["run"])
    return [*found.values(), (several, "")]


def wanted(filled: Filled) -> dict[str, Any]:
    return {
        "kind": "timeline",
        "host": "login2",
        "target": filled.made.targets[0],
        "op": "data_read",
        "since_ns": HOG_NS[0],
        "until_ns": HOG_NS[1],
        "at_ns": filled.made.at_ns,
        "run": "slow-ost",
        "a": "slow-ost",
        "b": "healthy",
    } | {"job": "4478544"}


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All that a server says of an empty store: words of its own."""
    with (
        stores.running(tmp_path_factory.mktemp("empty")) as (address, _),
        httpx2.Client(base_url=address) as client,
    ):
        paths = ("/", "/openapi.json", "/api/about/glossary", "/api/about", "/api/jobs")
        return {text for path in paths for text in texts(client.get(path).content)}


@pytest.fixture(scope="module")
def words(filled: Filled, common: set[str]) -> set[str]:
    return set(filled.words) - found_in(common, filled.words)


def test_no_answer_names_anybody(
    filled: Filled, words: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answers = walk(filled, HIDDEN)
    leaks = {
        (one.asked[0], str(one.asked[1])): said
        for one in answers
        if (said := found_in(one.texts, words))
    }
    statuses = [one.status for one in answers]
    print(
        f"{len(answers)} answers ({statuses.count(200)} of 200), {len(words)} words: {len(leaks)} leak"
    )
    assert not leaks
    assert len(answers) >= FEWEST
    assert statuses.count(200) >= FEWEST / 2
    assert {200, 400, 404} >= set(statuses)
    ours = ("iosonde", "uvicorn")
    logged = [one.getMessage() for one in caplog.records if one.name.startswith(ours)]
    assert not found_in(logged, words)


def test_the_walk_finds_names_where_they_are_shown(filled: Filled, words: set[str]) -> None:
    """The test above can fail, in every form that has words."""
    answers = walk(filled, Pseudonyms(None))
    told = {one.asked[1].get("format", "json"): set() for one in answers}
    for one in answers:
        told[one.asked[1].get("format", "json")] |= found_in(one.texts, words)
    assert {USER, ACCOUNT, PROGRAM, OF_LOG, "vpicio_uni", "mallory"} <= told["json"]
    assert PROGRAM in told["csv"]
    assert PROGRAM in told["svg"]
    assert PROGRAM in told["pdf"]


def test_a_hidden_id_is_answered_like_one_that_is_not_there(filled: Filled) -> None:
    """Also a user, a motif, a run, a word to search for."""
    real, step = filled.of_user, f"{PROGRAM}-{1:08x}"
    motif = f"{PROGRAM} shared write"
    nobody = "x" * len(real)
    asked = [
        ("/api/job", "job", real, nobody, {}),
        ("/api/umami", "job", real, nobody, {}),
        ("/api/umami", "run", step, "y" * len(step), {"job": "4478544"}),
        ("/api/job", "run", step, "y" * len(step), {"job": "4478544"}),
        ("/api/climate", "motif", motif, "z" * len(motif), {}),
        ("/api/climate", "file_system", f"/home/{USER}", "z" * len(f"/home/{USER}"), {}),
        ("/api/jobs", "user", USER, "nobody", {}),
        ("/api/jobs", "account", ACCOUNT, "nobody", {}),
        ("/api/jobs", "search", PROGRAM, "nobody", {}),
        ("/api/jobs", "file_system", f"/home/{USER}", "nobody", {}),
        (
            "/api/load/jobs",
            "name",
            USER,
            "nobody",
            dict(zip(("since_ns", "until_ns"), HOG_NS, strict=True)),
        ),
        ("/api/runs/run", "run", f"darshan-4711-{OF_LOG}-1490000867", "nobody", {}),
    ]
    with (
        serving(filled, HIDDEN) as (address, _),
        httpx2.Client(base_url=address, timeout=120) as client,
    ):
        for path, name, hidden, other, more in asked:
            one, two = (client.get(path, params={**more, name: word}) for word in (hidden, other))
            assert one.status_code == two.status_code, (path, name)
            assert one.text.replace(hidden, "?") == two.text.replace(other, "?"), (path, name)


def test_an_alias_leads_on(filled: Filled) -> None:
    """A link with an alias works: a job, a run of it, a motif, a user, a file system."""
    with (
        serving(filled, HIDDEN) as (address, _),
        httpx2.Client(base_url=address, timeout=120) as client,
    ):
        alias = HIDDEN.of("job", filled.of_user)
        found = client.get("/api/job", params={"job": alias}).json()
        assert (found["known"], found["job"]) == (True, alias)
        assert client.get("/api/umami", params={"job": alias}).status_code == 200
        listed = client.get("/api/jobs", params={"search": alias}).json()["jobs"]
        assert [one["job"] for one in listed] == [alias]
        (one,) = listed
        assert one["motif"] == f"{HIDDEN.of('app', PROGRAM)} shared write"
        assert one["file_system"] == f"/home/{HIDDEN.of('user', USER)}"
        assert one["user"] == HIDDEN.of("user", USER)
        for name in ("motif", "file_system"):
            assert client.get("/api/climate", params={name: one[name]}).status_code == 200, name
        of_user = client.get("/api/jobs", params={"user": one["user"], "limit": 1}).json()
        assert of_user["total"] == 60
        several = next(
            job for job in client.get("/api/jobs?limit=1000").json()["jobs"] if job["run"]
        )
        again = {name: several[name] for name in ("job", "run")}
        assert client.get("/api/job", params=again).status_code == 200


def test_a_damaged_file_is_named_without_its_log(
    filled: Filled, words: set[str], tmp_path: Path
) -> None:
    from iosonde.engine.left_out import leave_out
    from iosonde.model.errors import DamagedFileWarning

    (path, *_) = filled.root.glob(f"transfers/*/*{OF_LOG}*.parquet")
    with serving(filled, HIDDEN) as (address, _), httpx2.Client(base_url=address) as client:
        with pytest.warns(DamagedFileWarning):
            leave_out(path, "is damaged")
        said = client.get("/api/about").text
        with client.stream("GET", "/api/feed") as feed:
            said += "\n".join(itertools.islice(feed.iter_lines(), 12))
    assert said.count("is damaged") == 2
    assert not found_in([said], words)
