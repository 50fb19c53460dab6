"""The suite of the backends on real servers, and that nothing of ours is left on them."""

import psycopg
import pymongo
import pytest

from iosonde import _core
from iosonde.bench.backends.null import NothingStore
from iosonde.bench.backends.places import parse_place
from tests.kit.servers.ganesha import Ganesha, missing

pytestmark = pytest.mark.service

CHECKS = 16


def passes(place, stranger):
    verdicts = _core.conformance(place.core, stranger)
    assert len(verdicts) == CHECKS
    assert [verdict for verdict in verdicts if verdict[1] is not None] == []


def test_s3(s3):
    bucket = s3.by_obstore()

    def stranger(there):
        key = "some/where/iosonde-bench-metadata/theirs"
        if there:
            bucket.put(key, b"mine")
        else:
            bucket.delete(key)

    passes(parse_place("s3://bench/some/where", s3.environ), stranger)
    assert [one["path"] for page in bucket.list() for one in page] == []


def test_postgresql(postgresql):
    with psycopg.connect(postgresql.uri, autocommit=True) as connection:

        def stranger(there):
            if there:
                connection.execute("CREATE SCHEMA iosonde_bench")
                connection.execute("CREATE TABLE iosonde_bench.theirs (x int)")
            else:
                connection.execute("DROP SCHEMA iosonde_bench CASCADE")

        passes(parse_place(postgresql.uri, {}), stranger)
        left = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'iosonde_bench'")
        assert left.fetchone() is None


def test_postgresql_in_a_schema_of_the_sites(postgresql):
    """A user who may not make schemas is given an empty one, and it stays."""
    with psycopg.connect(postgresql.uri, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA given")
        place = parse_place(f"{postgresql.uri}?schema=given", {})
        verdicts = _core.conformance(place.core)
        assert [verdict for verdict in verdicts if verdict[1] is not None] == []
        left = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'given'")
        assert left.fetchone() == (1,)


def test_mongodb(mongodb):
    with pymongo.MongoClient(mongodb.uri) as client:
        database = client["suite"]

        def stranger(there):
            if there:
                database["theirs"].insert_one({"x": 1})
            else:
                client.drop_database("suite")

        passes(parse_place(f"{mongodb.uri}/suite", {}), stranger)
        assert database.list_collection_names() == []


def test_nfs_in_memory():
    server = _core.NfsServer(0, 1)
    place = parse_place(f"nfs://127.0.0.1/export?portmapport={server.port}", {})
    verdicts = _core.conformance(place.core)
    left = server.executed()[3]
    server.close()
    assert [verdict for verdict in verdicts if verdict[1] is not None] == []
    assert left == 0


def test_nfs_ganesha(tmp_path):
    if gone := missing():
        pytest.skip(f"{gone} not found; expected nfs-ganesha, rpcbind, iproute2 and root")
    server = Ganesha(tmp_path)
    try:
        server.start("1gbit")

        def stranger(there):
            root = server.export / ".iosonde-0-bench-metadata"
            if there:
                root.mkdir()
                (root / "theirs").write_text("mine")
            else:
                (root / "theirs").unlink()
                root.rmdir()

        passes(parse_place(f"{server.url}&uid=0&gid=0", {}), stranger)
        assert list(server.export.iterdir()) == []
    finally:
        server.close()


def test_mpiio(tmp_path):
    root = tmp_path / "iosonde-bench-mpiio"

    def stranger(there):
        if there:
            root.mkdir()
            (root / "theirs").write_text("mine")
        else:
            (root / "theirs").unlink()
            root.rmdir()

    passes(parse_place(f"mpiio:{tmp_path}", {}), stranger)
    assert list(tmp_path.iterdir()) == []


def test_python_null():
    assert all(wrong is None for _, wrong in _core.conformance(NothingStore))


def test_posix_by_way_of_python_bindings(tmp_path):
    verdicts = _core.conformance(parse_place(str(tmp_path), {}).core)
    assert [verdict for verdict in verdicts if verdict[1] is not None] == []


def test_the_suite_sees_a_python_store_that_lies():
    class Liar(NothingStore):
        def capabilities(self):
            from iosonde.bench.backends.protocol import Capabilities

            return Capabilities()

    wrong = {name for name, what in _core.conformance(Liar) if what is not None}
    assert {"what does not exist says so", "a listing follows create and delete"} <= wrong
