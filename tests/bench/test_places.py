"""Places as users write them: what they become, and errors that never repeat a secret."""

import functools
import json

import pytest

from iosonde.bench.backends.places import parse_place
from iosonde.bench.backends.protocol import parse_set_name, set_name
from iosonde.model.errors import UsageError

AWS = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:7070",
    "AWS_REGION": "here",
    "AWS_ACCESS_KEY_ID": "me",
    "AWS_SECRET_ACCESS_KEY": "hunter2",
}


def core(text, environ=None, **options):
    place = parse_place(text, environ or {}, **options)
    assert "hunter2" not in repr(place) + place.name
    assert isinstance(place.core, str)
    assert not place.foreign
    return place, json.loads(place.core)


def test_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("work", "./work", str(tmp_path / "work")):
        place, location = core(text)
        assert (place.kind, place.name) == ("posix", str(tmp_path / "work"))
        assert location == {"kind": "posix", "path": str(tmp_path / "work")}
    assert core("./s3:x")[1]["path"] == str(tmp_path / "s3:x")


def test_a_bucket():
    place, location = core("s3://bucket/some/prefix/", AWS)
    assert (place.kind, place.name) == ("s3", "s3://bucket/some/prefix at 127.0.0.1:7070")
    keys = {"access_key": "me", "secret_key": "hunter2", "session_token": None}
    assert location == {
        "kind": "s3",
        "endpoint": "http://127.0.0.1:7070",
        "region": "here",
        "bucket": "bucket",
        "prefix": "some/prefix",
        "keys": keys,
        "virtual_host": False,
    }
    assert core("s3://bucket", AWS, endpoint="http://other")[1]["endpoint"] == "http://other"
    token = {**AWS, "AWS_SESSION_TOKEN": "hunter2"}
    assert core("s3://bucket", token)[1]["keys"]["session_token"] == "hunter2"


def test_a_bucket_of_aws():
    plain = {name: value for name, value in AWS.items() if name != "AWS_ENDPOINT_URL"}
    place, location = core("s3://bucket", plain)
    assert place.name == "s3://bucket"
    assert location["endpoint"] == "https://s3.here.amazonaws.com"
    assert location["virtual_host"]
    assert not core("s3://with.dots", plain)[1]["virtual_host"]


def test_a_database():
    place, location = core("postgresql://me@db.site:5433/bench", {"PGPASSWORD": "hunter2"})
    assert (place.kind, place.name) == ("postgresql", "postgresql://me@db.site:5433/bench")
    assert location == {
        "kind": "postgresql",
        "host": "db.site",
        "port": 5433,
        "user": "me",
        "database": "bench",
        "schema": "iosonde_bench",
        "password": "hunter2",
    }
    place, location = core("postgres://me:hunter2@db/x?schema=mine", {})
    assert place.name == "postgresql://me@db:5432/x?schema=mine"
    assert (location["password"], location["schema"]) == ("hunter2", "mine")
    _, location = core("postgresql:///bench?host=/run/pg", {"USER": "me"})
    assert (location["host"], location["user"]) == ("/run/pg", "me")
    assert "password" not in location


def test_a_document_store():
    place = parse_place("mongodb://me:hunter2@one:1,two:2/bench?tls=true", {})
    assert (place.kind, place.foreign) == ("mongodb", True)
    assert place.name == "mongodb://me@one:1,two:2/bench"
    assert "hunter2" not in repr(place)
    assert isinstance(place.core, functools.partial)
    uri, database, shown = place.core.args
    assert uri == "mongodb://me:hunter2@one:1,two:2/bench?tls=true"
    assert (database, shown) == ("bench", place.name)
    assert parse_place("mongodb://one", {}).name == "mongodb://one/iosonde_bench"


def test_the_others(tmp_path):
    place = parse_place(f"mpiio:{tmp_path}", {})
    assert (place.kind, place.name, place.foreign) == ("mpiio", f"mpiio:{tmp_path}", True)
    assert core("null:")[1] == {"kind": "null"}
    place, text = core("null:2ms:0.5")
    assert place.name == "null:2ms:0.5"
    assert text["latency"] == {"median_ns": [0, 0, *[2_000_000] * 4], "sigma": 0.5}
    assert parse_place("python-null:", {}).foreign


@pytest.mark.parametrize(
    ("text", "environ", "said"),
    [
        ("", {}, "the place is empty; expected a directory, s3://BUCKET/PREFIX"),
        ("s4://bucket", {}, "`s4:` is no kind of place"),
        ("postgress://me@h/d", {}, "try `postgres"),
        ("odd:thing", {}, "try `./odd:...` for a directory of that name"),
        ("null:x", {}, "takes a latency"),
        ("null:1ms:-1", {}, "takes a latency"),
        ("python-null:x", {}, "takes nothing"),
        ("mpiio:", {}, "names no directory"),
        ("s3:", AWS, "names no bucket"),
        ("s3://me:hunter2@bucket/p", AWS, "try AWS_ACCESS_KEY_ID"),
        ("s3://bucket", {"AWS_ACCESS_KEY_ID": "me"}, "no keys to sign requests with"),
        ("s3://bucket", {**AWS, "AWS_ENDPOINT_URL": "ftp://host"}, "no address of an S3 server"),
        ("s3://bucket", {**AWS, "AWS_ENDPOINT_URL": "http://a:hunter2@h"}, "without credentials"),
        ("s3://bucket", {**AWS, "AWS_ENDPOINT_URL": "http://[::1"}, "the endpoint is no address"),
        ("postgresql://me@host:port/d", {}, "the port is no number"),
        ("postgresql:me", {}, "names no server"),
        ("postgresql://host/d", {}, "names no user"),
        ("postgresql://me@h/d?sslmode=require", {}, "does not speak TLS"),
        ("postgresql://me:hunter2@h/d?color=red", {}, "no option `color`; expected one of host,"),
        ("mongodb:", {}, "names no server"),
        ("mongodb://me:hunter2@h/a.b", {}, "`a.b` cannot be a database"),
    ],
)
def test_errors_say_what_was_expected(text, environ, said):
    with pytest.raises(UsageError) as error:
        parse_place(text, environ)
    assert said in str(error.value)
    assert "hunter2" not in str(error.value)


def test_names_of_sets_come_back():
    for one in ((0, 0), (3, 12), (123_456, 99_999)):
        assert parse_set_name(set_name(*one)) == one
    for bad in (
        "mark",
        "r1_d1",
        "r00001",
        "r00001_d+0001",
        "r00001_d\u0660\u0660\u0660\u0660\u0660",
        "x00001_d00001",
    ):
        assert parse_set_name(bad) is None
