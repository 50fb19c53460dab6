"""Shipping to a bucket and a folder, and reading both: a real S3 server, shipments that die, wrong keys."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from iosonde.cli.shared.stores import fetch, readable
from iosonde.engine.connections import connect
from iosonde.engine.layout.segments import every_sealed, parquet_segments
from iosonde.engine.remote.joined import join
from iosonde.engine.remote.mirror import STATES, is_ours, is_state, mirrored
from iosonde.engine.remote.s3 import Bucket, bucket_of
from iosonde.engine.states import read_states
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.units import DAY_NS
from iosonde.serve.upkeep import Repeated, Upkeep
from iosonde.weather.rollups.rollups import roll_up
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.compact import compact
from iosonde.weather.upkeep.ship import ship
from tests.kit.commands import put, run
from tests.kit.harness import wait_for
from tests.kit.samples.makers import SECOND, START, simulated, state, with_ops
from tests.kit.servers.loopback import Versitygw

URL = f"s3://{Versitygw.bucket}/centre/a b"


@pytest.fixture(scope="module")
def server():
    one = Versitygw()
    try:
        one.start()
        yield one
    finally:
        one.close()


@pytest.fixture(scope="module")
def hosts(tmp_path_factory) -> list[Path]:
    """Two hosts' stores of two segments each, sealed."""
    made = []
    for host in ("n1", "n2"):
        root = tmp_path_factory.mktemp(host)
        simulated(root, 5400, host=host, probe={"period": "10s"})
        for path in (root / "spool").rglob("*.spool"):
            os.utime(path, ns=(START, START))
        seal(root)
        made.append(root)
    return made


@pytest.fixture
def environ(server, monkeypatch, tmp_path) -> dict[str, str]:
    """What a user has set; an empty bucket."""
    bucket = server.folder / "data" / server.bucket
    shutil.rmtree(bucket)
    bucket.mkdir()
    every = server.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in every.items():
        monkeypatch.setenv(name, value)
    return every


def copied(url: str, environ: dict[str, str]) -> Path:
    return mirrored(bucket_of(url, environ), Path(environ["XDG_CACHE_HOME"]))


def test_two_hosts_ship_to_a_bucket_and_all_questions_read_it(hosts, environ, capsys, tmp_path):
    for root in hosts:
        assert run("store", "seal", "--to", URL, store=root) == 0
    assert "were there" in capsys.readouterr().err
    whole = sum(Store(root).count() for root in hosts)
    assert Store(copied(URL, environ)).count() == whole
    out = tmp_path / "samples.csv"
    assert run("export", "samples", "-o", str(out), store=URL) == 0
    assert len(out.read_text().splitlines()) == whole + 1
    assert run("slowdown", "--format", "json", store=URL) == 0


COMMAND = (sys.executable, "-m", "iosonde.cli.main")


def asked(*words: str, store: tuple[str, ...] = ("--store", URL)) -> tuple[int, str]:
    """Exit code and both outputs of a command in a process of its own, as users start it."""
    done = subprocess.run(
        [*COMMAND, *words, *store],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_bucket_answers_about_now_with_the_age_of_what_it_knows(environ, server, tmp_path):
    """States of five minutes ago, shipped; then newer ones; then none."""
    ago = time.time_ns() - 300 * SECOND
    slow = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
    put(tmp_path, work=with_ops(data_read=slow) | {"written_ns": ago})
    code, text = asked("now")
    assert (code, f"no probe states in {URL}" in text) == (1, True)
    ship(tmp_path, URL, environ, clock=lambda: ago + SECOND)
    code, text = asked("now")
    assert code == 0
    assert re.search(r"than usual \(2.8-3.4\); seen 5 min.* ago  \(from login2\)$", text, re.M)
    code, text = asked("check")
    assert code == 1
    assert text.startswith("IOSONDE WARNING - reads on /work are 3.1x slower")
    code, text = asked("now", "--hosts")
    assert (code, "states are up to 5 min" in " ".join(text.split())) == (0, True)

    put(tmp_path, work=state(written_ns=ago + 200 * SECOND))
    ship(tmp_path, URL, environ, clock=lambda: ago + 201 * SECOND)
    code, text = asked("check")
    assert (code, "/work is as usual" in text) == (0, True)

    shutil.rmtree(server.folder / "data" / server.bucket / "centre/a b/state")
    code, text = asked("check")
    assert (code, "no states in s3://" in text) == (3, True)


def test_an_answer_about_now_fetches_states_and_nothing_else(hosts, environ, tmp_path):
    ship(hosts[0], URL, environ)
    put(tmp_path, work=state(written_ns=time.time_ns()))
    ship(tmp_path, URL, environ)
    copy = mirrored(bucket_of(URL, environ), Path(environ["XDG_CACHE_HOME"]), tables=STATES)
    found = sorted(path.suffix for path in copy.rglob("*") if path.is_file())
    assert found == [".json"]
    assert Store(copied(URL, environ)).count() == Store(hosts[0]).count()
    assert len(read_states(copy)) == 1


def test_a_bucket_that_does_not_answer_is_unknown_in_time(environ, monkeypatch):
    """A server that takes the connection and is silent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        code, text = asked("check", "-t", "1s")
        assert (code, text) == (3, f"IOSONDE UNKNOWN - {URL} did not answer within 1 s\n")
        code, text = asked("now", "--timeout", "1s")
        assert (code, text.startswith(f"iosonde: {URL} did not answer within 1s")) == (124, True)


def test_the_variable_may_name_a_bucket(environ, monkeypatch, tmp_path):
    """As --store does; what writes refuses it, and the agent, which has no client for buckets, says who can."""
    put(tmp_path, work=state(written_ns=time.time_ns()))
    ship(tmp_path, URL, environ)
    monkeypatch.setenv("IOSONDE_STORE", URL)
    code, text = asked("check", store=())
    assert (code, "/work is as usual" in text) == (0, True)
    code, text = asked("store", "compact", store=())
    assert (code, f"IOSONDE_STORE={URL} can be read only" in text) == (2, True)
    agent = Path(sys.executable).with_name("iosonde-agent")
    done = subprocess.run([agent, "now"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, f"try 'iosonde now --store {URL}'" in done.stderr) == (2, True)


def test_a_bucket_is_served(environ, tmp_path):
    """By the command, as a user starts it."""
    put(tmp_path, work=state(written_ns=time.time_ns()))
    ship(tmp_path, URL, environ)
    words = ("serve", "--store", URL, "--listen", "127.0.0.1:0")
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            first = next(line for line in process.stderr if " at http" in line)
            assert first.startswith(f"iosonde serves {URL} at ")
            address = first.partition(" at ")[2].partition(" ")[0]
            told = httpx2.get(f"{address}api/targets", timeout=60).json()
        finally:
            process.terminate()
    assert [one["sentence"].partition(":")[0] for one in told] == ["/work is as usual"]


def test_what_is_shipped_meanwhile_is_fetched(hosts, environ):
    ship(hosts[0], URL, environ)
    root = readable(URL, environ)
    before = Store(root).count()
    repeated = Repeated(Upkeep("fetcher", lambda: fetch(URL, environ), 0.05), print)
    repeated.start()
    try:
        ship(hosts[1], URL, environ)
        wait_for("the other host's rows", lambda: Store(root).count() == 2 * before)
    finally:
        repeated.stop()


def test_a_roll_up_that_was_made_here_stays_with_its_samples(hosts, environ, server):
    ship(hosts[0], URL, environ)
    shutil.rmtree(server.folder / "data" / server.bucket / "centre/a b/rollups")
    root = copied(URL, environ)
    assert not list((root / "rollups").rglob("*.parquet"))
    with closing(connect()) as con:
        roll_up(con, root, parquet_segments(root, None)[0].path)
    made = sorted((root / "rollups").rglob("*.parquet"))
    assert made
    assert copied(URL, environ) == root
    assert sorted((root / "rollups").rglob("*.parquet")) == made
    shutil.rmtree(server.folder / "data" / server.bucket / "centre/a b/samples")
    copied(URL, environ)
    assert not list((root / "rollups").rglob("*.parquet"))


class DiesError(Exception):
    """The process that ships is killed."""


def test_a_shipment_that_dies_is_resumed_and_doubles_nothing(hosts, environ, monkeypatch):
    put, calls = Bucket.put, []

    def dying(self, key, path):
        calls.append(key)
        if len(calls) == 3:
            raise DiesError
        put(self, key, path)

    monkeypatch.setattr(Bucket, "put", dying)
    with pytest.raises(DiesError):
        ship(hosts[0], URL, environ)
    half = Store(copied(URL, environ)).count()
    assert half == Store(hosts[0]).count()  # both samples, no roll-up yet
    monkeypatch.setattr(Bucket, "put", put)
    done = ship(hosts[0], URL, environ)
    assert (done.there, len(done.sent)) == (2, 2)
    assert not ship(hosts[0], URL, environ).sent
    assert Store(copied(URL, environ)).count() == Store(hosts[0]).count()


def test_what_is_merged_after_it_was_shipped_counts_once(hosts, environ, tmp_path):
    root = tmp_path / "own"
    shutil.copytree(hosts[0], root)
    before = Store(root).count()
    ship(root, URL, environ)
    compact(root, START + 3 * DAY_NS, grace_ns=0)
    assert len(ship(root, URL, environ).sent) == 2
    copy = copied(URL, environ)
    assert len(every_sealed(copy)) == 3
    assert Store(copy).count() == before
    assert int(Store(copy).rollups().columns["n_due"].sum()) == before


def test_what_the_bucket_drops_leaves_the_copy(hosts, server, environ):
    ship(hosts[0], URL, environ)
    assert Store(copied(URL, environ)).count()
    shutil.rmtree(server.folder / "data" / server.bucket / "centre")
    assert Store(copied(URL, environ)).count() == 0


def test_a_folder_of_many_hosts_is_a_store(hosts, tmp_path):
    shared = tmp_path / "shared"
    for root in (*hosts, hosts[0]):
        assert run("store", "seal", "--to", str(shared), store=root) == 0
    whole = sum(Store(root).count() for root in hosts)
    assert Store(shared).count() == whole
    assert not list(shared.rglob(".*.parquet"))


def test_several_folders_are_one_store_and_a_file_in_two_counts_once(hosts, tmp_path, capsys):
    again = tmp_path / "again"
    shutil.copytree(hosts[0], again)
    whole = sum(Store(root).count() for root in hosts)
    joined = join([*hosts, again], tmp_path / "joined")
    assert Store(joined).count() == whole
    together = ",".join(str(root) for root in hosts)
    assert run("export", "samples", "-o", str(tmp_path / "all.csv"), store=together) == 0
    assert len((tmp_path / "all.csv").read_text().splitlines()) == whole + 1
    pattern = str(hosts[0].parent / "n*")
    assert run("slowdown", "--json", store=pattern) == 0
    assert run("store", "forget", "/work", store=together) == 2
    assert "read only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "at http://127.0.0.1:1: .*Connection refused"),
    ],
)
def test_a_bucket_that_refuses_says_why(hosts, environ, change, told):
    with pytest.raises(StoreError, match=told):
        ship(hosts[0], URL, environ | change)


@pytest.mark.parametrize(
    ("url", "change"),
    [("s3://", {}), (URL, {"AWS_ACCESS_KEY_ID": ""}), (URL, {"AWS_ENDPOINT_URL": "nowhere"})],
)
def test_a_bucket_that_is_none_is_a_wrong_request(environ, url, change):
    with pytest.raises(UsageError):
        bucket_of(url, environ | change)


@pytest.mark.parametrize(
    "key",
    [
        "samples/date=2026-01-01/host=a/../../../x.parquet",
        "/etc/passwd",
        "samples/date=2026-01-01/host=a/.x.parquet",
        "state/../b.json",
        "state/a/../b.json",
        "state/a/.b.json",
        "state/a/b/c.json",
        "state/a b/c.json",
        "state//c.json",
        "state/a/c.json\n",
    ],
)
def test_a_key_that_leads_elsewhere_is_not_copied(key):
    assert not is_ours(key)
    assert not is_state(key)


def test_the_secret_is_never_printed(environ):
    assert environ["AWS_SECRET_ACCESS_KEY"] not in repr(bucket_of(URL, environ))
