"""Servers that go away, stand still, or do not let us in."""

import functools
import json
from dataclasses import replace

import pytest

from iosonde.bench.backends.mongodb import MongoStore
from iosonde.bench.backends.places import parse_place
from iosonde.bench.metadata.spec import BULK_OPS
from iosonde.model.errors import IosondeError, MeasureError
from tests.kit.runs.bench import Bench
from tests.kit.servers.loopback import Ferretdb, Postgresql, Versitygw
from tests.services.conftest import running

pytestmark = pytest.mark.service

LOST = {"econnreset", "econnrefused", "epipe"}
OBJECTS = 12


def hasty(place):
    """Answers are given up soon."""
    if isinstance(place.core, str):
        return replace(place, core=json.dumps(json.loads(place.core) | {"timeout_ms": 700}))
    uri, database, name = place.core.args
    return replace(place, core=functools.partial(MongoStore, uri, database, name, 0.7))


KINDS = {
    "s3": (Versitygw, lambda server: parse_place("s3://bench/faults", server.environ)),
    "postgresql": (Postgresql, lambda server: parse_place(server.uri, {})),
    "mongodb": (Ferretdb, lambda server: parse_place(f"{server.uri}/faults", {})),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_goes_away_comes_back(kind):
    make, place_of = KINDS[kind]
    with running(make()) as server:
        bench = Bench(hasty(place_of(server)), OBJECTS)
        bench.begin()
        assert bench.phase("md_create").ok == OBJECTS
        server.stop()
        gone = bench.phase("md_stat")
        assert gone.ok == 0
        assert sum(gone.failed.values()) == OBJECTS
        assert set(map(str.lower, gone.failed)) <= LOST
        server.start()
        # The first operation may find the lost connection; from then on all is as before.
        assert bench.phase("md_stat").ok >= OBJECTS - 1
        for op in BULK_OPS[1:]:
            back = bench.phase(op)
            assert (back.ok, back.failed) == (OBJECTS, {})
        bench.end()


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_stands_still_times_out(kind):
    make, place_of = KINDS[kind]
    with running(make()) as server:
        bench = Bench(hasty(place_of(server)), 2)
        bench.begin()
        assert bench.phase("md_create").ok == 2
        server.freeze(True)
        still = bench.phase("md_read")
        server.freeze(False)
        assert still.ok == 0
        assert set(map(str.lower, still.failed)) <= {"etimedout", *LOST}
        assert "etimedout" in map(str.lower, still.failed)
        assert still.failed_ns >= 600_000_000
        bench.phase("md_stat")
        assert bench.phase("md_read").ok == 2
        assert bench.phase("md_delete").ok == 2
        bench.end()


def refused(place):
    with pytest.raises(IosondeError) as error:
        Bench(place, 1).begin()
    text = str(error.value)
    assert "hunter2" not in text
    assert "\n" not in text
    return text


def test_wrong_keys_are_one_clear_message(s3):
    wrong = parse_place("s3://bench/p", {**s3.environ, "AWS_SECRET_ACCESS_KEY": "hunter2"})
    text = refused(wrong)
    assert text.startswith(f"{wrong.name}: SignatureDoesNotMatch")
    assert "expected keys that may list" in text
    nobody = parse_place("s3://bench/p", {**s3.environ, "AWS_ACCESS_KEY_ID": "nobody"})
    text = refused(nobody)
    assert "access key" in text
    assert "expected keys" in text


def test_a_bucket_that_is_missing(s3):
    text = refused(parse_place("s3://missing", s3.environ))
    assert "NoSuchBucket" in text
    assert "expected a bucket that exists" in text


def test_a_wrong_password_is_one_clear_message(postgresql):
    here = f"127.0.0.1:{postgresql.port}/postgres"
    text = refused(parse_place(f"postgresql://bench:hunter2@{here}", {}))
    assert text.startswith(f"postgresql://bench@{here}: password authentication failed")
    assert "PGPASSWORD" in text
    assert "password" in refused(parse_place(f"postgresql://bench@{here}", {}))


def test_a_database_that_is_missing(postgresql):
    uri = postgresql.uri.replace("/postgres", "/nothing")
    assert 'database "nothing" does not exist' in refused(parse_place(uri, {}))


def test_nobody_there(s3):
    s3 = {**s3.environ, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    for place in (
        parse_place("s3://bench", s3),
        parse_place("postgresql://me:hunter2@127.0.0.1:1/x", {}),
        hasty(parse_place("mongodb://127.0.0.1:1/x", {})),
    ):
        text = refused(place)
        assert place.name in text
        assert "refused" in text


def test_a_login_a_mongodb_server_refuses(mongodb):
    place = parse_place(f"mongodb://me:hunter2@127.0.0.1:{mongodb.port}/x", {})
    text = refused(hasty(place))
    assert text.startswith(f"mongodb://me@127.0.0.1:{mongodb.port}/x: ")


def test_mpiio_without_the_directory(tmp_path):
    with pytest.raises(MeasureError, match="no such directory"):
        Bench(parse_place(f"mpiio:{tmp_path}/missing", {}), 1)
