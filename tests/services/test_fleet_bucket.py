"""Shipping to a bucket and a folder, and reading both: a real S3 server, shipments that die, wrong keys."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from iosonde.engine.layout.segments import every_sealed
from iosonde.engine.remote.joined import join
from iosonde.engine.remote.mirror import is_ours, mirrored
from iosonde.engine.remote.s3 import Bucket, bucket_of
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.units import DAY_NS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.compact import compact
from iosonde.weather.upkeep.ship import ship
from tests.kit.commands import run
from tests.kit.makers import START, simulated
from tests.kit.servers import Versitygw

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
        assert run("seal", "--to", URL, store=root) == 0
    assert "were there" in capsys.readouterr().err
    whole = sum(Store(root).count() for root in hosts)
    assert Store(copied(URL, environ)).count() == whole
    out = tmp_path / "samples.csv"
    assert run("export", "samples", "-o", str(out), store=URL) == 0
    assert len(out.read_text().splitlines()) == whole + 1
    assert run("slowdown", "--format", "json", store=URL) == 0


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
        assert run("seal", "--to", str(shared), store=root) == 0
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
    assert run("forget", "/work", store=together) == 2
    assert "read only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "at http://127.0.0.1:1: .*error sending"),
    ],
)
def test_a_bucket_that_refuses_says_why(hosts, environ, change, told, monkeypatch):
    monkeypatch.setattr("iosonde.engine.remote.s3._TRIES", 1)
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
        "state/a/b.json",
    ],
)
def test_a_key_that_leads_elsewhere_is_not_copied(key):
    assert not is_ours(key)


def test_the_secret_is_never_printed(environ):
    assert environ["AWS_SECRET_ACCESS_KEY"] not in repr(bucket_of(URL, environ))
