"""Incidents with a known cause, one a kind with another distribution each: benchmarks/truth has the table."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient

from benchmarks.truth.why.incident_draws import DRAWS
from benchmarks.truth.why.incidents import incident
from benchmarks.truth.why.whole_answer import KINDS, WITHHELD, Case, judge
from iosonde.cli.main import main
from iosonde.ingest.answers import Question, import_files
from iosonde.serve.app import create
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.why.answers import why
from iosonde.why.data import why_data
from iosonde.why.links import Gap, Kind, LinkStanding
from iosonde.why.question import WhyQuestion
from iosonde.why.words import MOST_WORDS, say

DRAW = dict(zip(KINDS, [*DRAWS, *DRAWS, *DRAWS], strict=False))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.replace(" ", "-"))
def test_the_kind_and_the_name(kind):
    one = judge(Case(kind, DRAW[kind], 4))
    assert one.kind is kind, one.sentence
    assert one.named in (None, True), one.sentence
    assert one.words <= MOST_WORDS, one.sentence


@pytest.mark.parametrize("link", WITHHELD)
def test_a_link_without_data_is_said_and_not_guessed(link):
    one = judge(Case(WITHHELD[link], "heavy tail", 5, link))
    assert one.told, one.sentence
    assert not one.guessed, one.sentence


@pytest.fixture(scope="module")
def hog(tmp_path_factory):
    """A job's load of which no records were imported yet; and the records."""
    without, files = (tmp_path_factory.mktemp(name) for name in ("without", "with"))
    made = incident(Kind.ONE_JOB, 6, without, "lognormal", "load")
    incident(Kind.ONE_JOB, 6, files, "lognormal")
    return made, sorted((files / "files").iterdir())


def test_an_event_grows_richer_as_records_come_in(hog, capsys):
    made, files = hog
    question = WhyQuestion(made.targets, made.at_ns)
    before = why(made.root, question, made.now_ns)
    event = before.links.slowness.fact.event
    assert before.links.load.gap is Gap.NO_RECORDS
    assert before.links.remedy.gap is Gap.NO_LOAD
    assert say(before, made.now_ns).endswith("not known: load")
    client = TestClient(_app(made, None))
    first = client.get("/api/why", params={"event": event}).json()
    assert first["event"] == event
    assert first["links"]["load"] == {
        "standing": "not known",
        "reason": "no records",
        "fact": None,
    }

    assert not import_files(made.root, Question(files), made.now_ns).errors
    after = why(made.root, WhyQuestion(event=event), made.now_ns)
    assert after.links.slowness.fact.event == event
    assert [one.job for one in after.links.load.found.culprits] == ["900001"]
    remedy = after.links.remedy
    assert remedy.standing is LinkStanding.FOUND or remedy.gap in (Gap.FEW_LOADS, Gap.NO_FIT)
    if remedy.found:
        assert remedy.found.then_s.value < remedy.found.now_s.value

    document = why_data(after, made.now_ns)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    answer = client.get("/api/why", params={"target": "/work", "at_ns": made.at_ns}).json()
    assert answer["verdict"] == "one job's load"
    assert "job 900001 caused most of it" in answer["annotation"]["summary"]
    assert answer["annotation"]["description"].splitlines() == answer["evidence"]

    at = f"@{made.at_ns / 1e9:.0f}"
    words = ["why", "/work", "--at", at, "--no-model", "--store", str(made.root)]
    assert main(words) == 0
    assert "job 900001 caused most of it" in " ".join(capsys.readouterr().out.split())
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["event"] == event


def _app(made, key):
    return create(made.root, hosts=None, clock=lambda: made.now_ns, names=Pseudonyms(key))


def test_users_leave_the_server_as_aliases(hog):
    made, files = hog
    import_files(made.root, Question(files), made.now_ns)
    client = TestClient(_app(made, lambda: b"k" * 32))
    text = client.get("/api/why", params={"at_ns": made.at_ns}).text
    assert "900001" in text
    assert "mallory" not in text
    assert "user-" in text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"target": "/nowhere"}, 404),
        ({"event": "nothing"}, 404),
        ({"event": "a:b-1788220800000000000"}, 404),
        ({"at_ns": 4_000_000_000_000_000_000}, 404),
        ({"at_ns": "soon"}, 400),
        ({"event": "a:b-1788220800000000000", "at_ns": 5}, 400),
        ({"since": "1"}, 400),
    ],
)
def test_a_question_about_nothing_is_refused(hog, query, status):
    made, _ = hog
    answer = TestClient(_app(made, None)).get("/api/why", params=query)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"what", "expected", "try"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/nowhere"], "/nowhere"),
        (["login1:/work/OST0000:slow-1788220800000000000"], "there is no event"),
        (["login1:/work:slow-1788220800000000000", "--at", "14:05"], "two questions"),
        (["--at", "+1h"], "in the future"),
        (["--at", "teatime"], "cannot read the time"),
    ],
)
def test_a_mistake_is_a_line(hog, words, told, capsys):
    made, _ = hog
    assert main(["why", *words, "--store", str(made.root)]) in (1, 2)
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err


def test_a_store_without_samples_is_said(tmp_path, capsys):
    assert main(["why", "--store", str(tmp_path)]) == 1
    assert "there are no samples" in capsys.readouterr().err
