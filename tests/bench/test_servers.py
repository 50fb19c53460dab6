"""Benchmarks of real servers: exact counts, nothing left, and a server that goes away meanwhile."""

import signal

import psycopg
import pymongo
import pytest

from tests.kit.runs.driven import (
    OPS,
    SMALL,
    bench,
    by_op,
    counts,
    ended,
    impatient,
    left_in,
    lines_of_table,
    rows_of,
    started,
    until,
    whole,
)
from tests.kit.servers.loopback import Ferretdb, Postgresql, Versitygw, fast_folder
from tests.services.conftest import running

pytestmark = pytest.mark.service

KINDS = {"s3": Versitygw, "postgresql": Postgresql, "mongodb": Ferretdb}


def place_on(server):
    """What a user writes, and what is in the environment."""
    if isinstance(server, Versitygw):
        return f"s3://{server.bucket}/some/where", server.environ
    if isinstance(server, Postgresql):
        return server.uri, {}
    return f"{server.uri}/bench?serverSelectionTimeoutMS=300", {}


def left_on(server):
    """What is there, by a client of somebody else's making."""
    if isinstance(server, Versitygw):
        bucket = server.by_obstore()
        return [one["path"] for page in bucket.list() for one in page]
    if isinstance(server, Postgresql):
        with psycopg.connect(server.uri) as connection:
            asked = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'iosonde%'"
            return connection.execute(asked).fetchall()
    with pymongo.MongoClient(server.uri) as client:
        return client["bench"].list_collection_names()


@pytest.fixture
def environ(s3, monkeypatch):
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("pattern", ["cycle", "bulk"])
@pytest.mark.parametrize("kind", KINDS)
def test_exact_counts_and_nothing_left(kind, pattern, request, environ, store, capsys):
    server = request.getfixturevalue(kind)
    place, _ = place_on(server)
    words = ("--pattern", pattern, "-n", 3, "-D", 2, "-P", 9, "-R", 1, "--verify")
    assert bench(place, *words, "-I", 4, store=store) == 0
    rows = rows_of(store)
    if pattern == "cycle":
        assert by_op(rows, "precreate") == {"md_create": 54}
        assert by_op(rows, "benchmark") == dict.fromkeys(OPS, 24)
        assert by_op(rows, "cleanup") == {"md_delete": 54}
        assert {n for key, n in counts(rows, ranks=True).items() if key[0] == "benchmark"} == {8}
    else:
        assert set(counts(rows).values()) == {54}
    assert all(row.complete and row.failed == 0 for row in rows)
    assert {row.backend for row in rows} == {kind}
    assert left_on(server) == []
    seen = capsys.readouterr()
    for secret in ("a-password-of-tests", "a-secret-of-tests"):
        assert secret not in seen.out + seen.err + str(rows)


def test_the_same_through_mpi_io(place, store):
    assert bench(f"mpiio:{place}", *SMALL, "--verify", store=store) == 0
    assert by_op(rows_of(store), "benchmark") == dict.fromkeys(OPS, 10)
    assert left_in(place) == []
    assert bench(f"mpiio:{place}", *SMALL, "-n", 2) == 2, "one rank a process"
    assert left_in(place) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_tree_on_a_server(kind, request, environ, store, capsys):
    server = request.getfixturevalue(kind)
    place, _ = place_on(server)
    assert bench(place, *SMALL, "--phases", "precreate") == 0
    assert left_on(server) != []
    for _ in range(2):
        assert bench(place, "-I", 3, "-R", 1, "--phases", "benchmark", store=store) == 0
    assert [row.ops for row in whole(rows_of(store))] == [24, 24]
    assert bench(place, "-D", 3, "-I", 3, "-R", 1, "--phases", "benchmark") == 2
    assert "data_sets 2 (asked for: 3)" in capsys.readouterr().err
    assert bench(place, "--phases", "cleanup") == 0
    assert left_on(server) == []


def test_a_sweep_over_two_file_systems_and_three_servers_is_one_table(
    place, s3, postgresql, mongodb, environ, store, capsys
):
    memory = fast_folder("sweep")
    places = [place, memory, *(place_on(server)[0] for server in (s3, postgresql, mongodb))]
    words = ("-n", "1,2", "-D", 2, "-I", "2,4", "-P", "6,12", "-R", 1)
    try:
        assert bench(*places, *words, store=store) == 0
    finally:
        memory.rmdir()
    assert len(lines_of_table(capsys.readouterr().out)) == 5 * 2 * 2
    rows = whole(rows_of(store))
    assert [row.backend for row in rows] == [
        kind for kind in ("posix", "posix", *KINDS) for _ in range(4)
    ]
    for row in rows:
        asked = row.parameters
        assert row.ops == 4 * row.ranks * 2 * asked["iterations"]
        assert asked["objects"] == 3 * asked["iterations"]
    for server in (s3, postgresql, mongodb):
        assert left_on(server) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_goes_away_meanwhile(kind, store, monkeypatch):
    with running(KINDS[kind]()) as server:
        place, environ = place_on(server)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        words = ("-n", 2, "-D", 1, "-P", 60, "-I", 50, "-R", 3, "--max-errors", 3)
        slow = ("--fault", "stat:+20ms", "--store", store)
        with started(place, *words, *slow, environ=environ) as process:
            until(process, '"benchmark"')
            server.stop(signal.SIGKILL)
            code, out, err = ended(process)
        assert code == 1, err
        assert "Traceback" not in err
        assert "ended with ECONN" in err or "ended with E" in err
        assert "2 of 2 ranks gave up" in err
        assert "objects are left" in err
        assert "cut" in out
        rows = rows_of(store)
        assert by_op(rows, "precreate") == {"md_create": 120}
        row = whole(rows)[-1]
        assert (row.complete, row.failed >= 6) == (False, True)
        assert sum(row.outcomes.values()) == row.ops
        # An answer that breaks off in its middle has no errno: it is an error.
        assert all(name[0] == "E" or name in {"ok", "error"} for name in row.outcomes)
        server.start()
        assert bench(place, "--phases", "cleanup") == 0
        assert left_on(server) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there(kind, environ, capsys):
    there = {
        "s3": ("s3://bench/x", "--endpoint", "http://127.0.0.1:9"),
        "postgresql": ("postgresql://bench@127.0.0.1:9/x",),
        "mongodb": ("mongodb://127.0.0.1:9/x?serverSelectionTimeoutMS=300",),
    }
    assert bench(*there[kind], *SMALL) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"iosonde: {there[kind][0].partition('?')[0]}")


def test_a_frozen_server_is_given_up_after_an_interrupt(store):
    """It holds its connections and answers nothing."""
    with running(Postgresql()) as server:
        words = ("-n", 1, "-D", 1, "-P", 60, "-I", 50, "-R", 3, "--fault", "stat:+20ms")
        with started(arguments=impatient(server.uri, *words, "--store", store)) as process:
            until(process, '"benchmark"')
            server.freeze(True)
            until(process, '"benchmark"')
            process.send_signal(signal.SIGINT)
            code, _, err = ended(process)
        server.freeze(False)
        assert code == 130, err
        assert "gave it up" in err
        assert "Traceback" not in err
        assert "objects are left" in err
        assert by_op(rows_of(store), "precreate") == {"md_create": 60}
        assert bench(server.uri, "--phases", "cleanup") == 0
        assert left_on(server) == []
