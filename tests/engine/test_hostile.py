"""Hostile stores and buckets: the rest is answered, the entry is named, bounds hold. ``tests/hostile.py`` asks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from iosonde.bench.bandwidth import tables
from iosonde.engine import checksum, opener
from iosonde.engine.left_out import left_out
from iosonde.engine.parquet import write_parquet
from iosonde.engine.remote.mirror import mirrored
from iosonde.engine.remote.s3 import Bucket, S3Object, bucket_of
from iosonde.engine.sound import unsound
from iosonde.engine.states import read_states
from iosonde.jobs.store import jobs
from iosonde.model.errors import DamagedFileWarning, StoreError, UsageError
from iosonde.model.jobs import Job
from iosonde.serve.access.token import read_token
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.serve.privacy.policy import POLICY, read_policy
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.weather.seal import seal
from tests.hostile import Worker
from tests.kit.commands import put, run
from tests.kit.hostile import BUCKETS, CASES, STORES
from tests.kit.hostile_s3 import BUCKET, PREFIX, elsewhere, refused, serving
from tests.kit.samples.makers import START, state


@pytest.fixture(scope="module")
def worker():
    one = Worker()
    try:
        yield one
    finally:
        one.close()


def test_there_are_enough_cases():
    assert len(CASES) == len(STORES) + len(BUCKETS) >= 60


@pytest.mark.measures
@pytest.mark.parametrize("name", CASES)
def test_the_rest_is_answered_and_the_entry_is_named(worker, name):
    found = worker.result(name)
    assert not found.wrong, found
    assert found.rows == found.right


@pytest.fixture
def states(tmp_path):
    """A folder of two states, as a bucket."""
    root = tmp_path / "bucket"
    for host in ("n1", "n2"):
        (root / f"state/{host}").mkdir(parents=True)
        (root / f"state/{host}/work.json").write_text("{}")
    with serving(root) as server:
        yield server


def client(server, token: str | None = None) -> Bucket:
    environ = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "a-secret"}
    environ |= {"AWS_SESSION_TOKEN": token} if token else {}
    return bucket_of(f"s3://{BUCKET}/{PREFIX}", environ, server.endpoint)


def test_a_token_never_follows_a_redirect(states, tmp_path):
    """Neither a GET, a listing nor a PUT reaches the host that the server names."""
    with serving(tmp_path) as other:
        for key in ("state/n1/work.json", "state/n2/work.json"):
            states.faults[key] = elsewhere(other.endpoint)
        with pytest.warns(DamagedFileWarning, match="its redirect to http://127") as told:
            root = mirrored(client(states, "a-session-token"), tmp_path / "cache")
        assert read_states(root) == []
        assert states.asked
        assert other.asked == []
        assert not any("token" in str(one.message).lower() for one in told)
        assert len(left_out(root)) == 2


def test_what_the_copy_has_counts_while_the_server_fails(states, tmp_path):
    root = mirrored(client(states), tmp_path / "cache")
    assert len(read_states(root)) == 2
    states.faults["state/n1/work.json"] = refused(403, "AccessDenied")
    os.utime(states.root / "state/n1/work.json", (5, 5))
    with pytest.warns(DamagedFileWarning, match="AccessDenied"):
        mirrored(client(states), tmp_path / "cache")
    assert len(read_states(root)) == 2
    states.page = lambda _text, _below, _number: None
    with pytest.raises(StoreError, match="cannot list"):
        mirrored(client(states), tmp_path / "cache")
    assert len(read_states(root)) == 2


def test_what_comes_later_is_copied_beside_what_cannot_be_had(states, tmp_path):
    """As ``serve`` copies a bucket again and again; its answers do not say where the bucket is."""
    states.faults["state/n1/work.json"] = refused(403, "InvalidObjectState")
    for number in (2, 3):
        (states.root / f"state/n{number}").mkdir(exist_ok=True)
        (states.root / f"state/n{number}/work.json").write_text("{}")
        with pytest.warns(DamagedFileWarning, match="is archived"):
            root = mirrored(client(states), tmp_path / "cache")
        assert len(read_states(root)) == number - 1
    assert [one["path"] for one in left_out(root)] == [f"s3://{BUCKET}/{PREFIX}state/n1/work.json"]
    (served,) = ShownPaths(root, Pseudonyms(None)).left_out()
    assert served["path"] == "state/n1/work.json"
    assert BUCKET not in str(served)


def test_keys_of_another_prefix_are_none_of_the_listing(states):
    states.page = lambda text, _below, _number: text.replace(f"<Key>{PREFIX}", "<Key>foreign/")
    assert list(client(states).objects("state/")) == []


@pytest.mark.parametrize(
    "modified", ["", "yesterday", "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"]
)
def test_an_instant_that_is_none_is_none(states, modified):
    states.page = lambda text, _below, _number: (
        text.replace("+00:00", "")
        .replace("<LastModified>2", f"<LastModified>{modified}</LastModified><Old>2")
        .replace("</LastModified><Size>", "</Old><Size>")
    )
    found = list(client(states).objects("state/"))
    assert [one.modified_ns for one in found] == [None, None]
    assert isinstance(found[0], S3Object)


@pytest.mark.parametrize(
    "case", [case for case in STORES if case.asks == "state"], ids=lambda case: case.name
)
def test_the_agent_says_the_same_of_a_hostile_state(tmp_path, case, capsys):
    """``iosonde-agent now`` is the one that users without Python have."""
    put(tmp_path, work=state(written_ns=time.time_ns()))
    (tmp_path / "state/login1").mkdir()
    case.store(tmp_path)
    agent = Path(sys.executable).with_name("iosonde-agent")
    command = [agent, "now", "--format", "json", "--store", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert run("now", "--format", "json", store=tmp_path) == 0
    said = [
        {one["host"]: one["sentence"] for one in json.loads(text)["targets"]}
        for text in (done.stdout, capsys.readouterr().out)
    ]
    assert said[0] == said[1]
    assert re.search(case.said, said[0]["login1"])
    assert "/work is as usual" in said[0]["login2"]


def _pipe(folder: Path, name: str) -> Path:
    os.mkfifo(folder / name, 0o600)
    return folder / name


def test_no_word_of_a_store_is_waited_for(tmp_path):
    _pipe(tmp_path, POLICY)
    with pytest.raises(UsageError, match="not a regular file"):
        read_policy(tmp_path)
    with pytest.raises(UsageError, match="not a regular file"):
        read_token(_pipe(tmp_path, "token"))
    (tmp_path / "spool/n1").mkdir(parents=True)
    _pipe(tmp_path / "spool/n1", "0123456789abcdef-000001.spool")
    told: list[str] = []
    with pytest.raises(Exception, match="not a regular file"):
        seal(tmp_path, told.append)


def test_a_lock_is_neither_a_pipe_nor_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    for path in (_pipe(tmp_path, "pipe"), tmp_path / "link", tmp_path):
        with pytest.raises(OSError, match=r"regular|links|directory"):
            opener.lock_file(path)
    assert not (tmp_path / "victim").exists()
    opener.lock_file(tmp_path / ".lock").close()


def test_a_file_that_grows_ends_where_it_ended(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"1\n2\n")
    with opener.opened(path, 1 << 30) as file, path.open("ab") as writer:
        writer.write(b"3\n")
        writer.flush()
        assert file.read() == b"1\n2\n"
    assert opener.content(path, 1 << 30) == b"1\n2\n3\n"
    with pytest.raises(opener.UnfitError, match="larger than 3 bytes"):
        opener.content(path, 3)


def test_a_newer_table_without_a_column_of_its_version_is_left_out(tmp_path):
    """``transfers`` and ``rates`` say their version in the footer."""
    columns = {
        "run_id": ["r"] * 2,
        "repetition": [0, 0],
        "direction": ["write"] * 2,
        "rank": [0, 1],
    }
    columns |= {"begin_ns": [0, 0], "bytes": [5, 6]}
    frame = {name: np.array(values) for name, values in columns.items()}
    assert tables.write_part(tmp_path, "rates", "r", "0", frame)
    tables.finish(tmp_path, "r", START)
    assert len(tables.read_columns(tmp_path, "rates", "r")["bytes"]) == 2
    path = tables.table_file(tmp_path, "rates", "r")
    assert path is not None
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM '{path}'")
        con.execute(f"COPY t TO '{path}' (FORMAT parquet, KV_METADATA {{schema_version: '2'}})")
    with pytest.warns(DamagedFileWarning, match="was written by a newer iosonde .schema 2"):
        assert tables.read_columns(tmp_path, "rates", "r") == {}


def test_an_older_version_neither_merges_into_a_newer_part_nor_sets_it_aside(tmp_path):
    job = Job(source="sacct", job_id="1", user="u", name="n", start_ns=START, end_ns=START + 1)
    jobs.write_jobs(tmp_path, [job])
    (path,) = (tmp_path / "jobs").glob("*/*.parquet")
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM read_parquet('{path}', hive_partitioning = false)")
        con.execute(f"COPY (SELECT * REPLACE (2::UTINYINT AS schema_version) FROM t) TO '{path}'")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer iosonde"):
        jobs.write_jobs(tmp_path, [replace(job, job_id="2")])
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_signed_file_says_its_version_in_its_footer(tmp_path):
    """So that no row of it is read for that."""
    path = tmp_path / "a.parquet"
    with duckdb.connect() as con:
        for version in (1, 2):
            write_parquet(con, "SELECT 1::UTINYINT AS schema_version", path, version=version)
            assert checksum.version_of(path) == version
            assert bool(unsound(con, [path], {})) == (version == 2)
            assert not unsound(con, [path], {"schema_version": "UTINYINT"}, version=2)
        con.execute(f"COPY (SELECT 7::UTINYINT AS schema_version) TO '{path}'")
        assert checksum.version_of(path) is None
        assert "schema 7, this one reads 1" in unsound(con, [path], {})[path]
