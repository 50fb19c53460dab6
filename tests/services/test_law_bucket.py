"""The law of rows over a bucket of a real S3 server: shipments, merges and copies that are killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from pathlib import Path

import pytest

from iosonde.cli.shared.stores import _once as readable_once
from iosonde.engine.remote.mirror import mirrored
from iosonde.engine.remote.s3 import Bucket, bucket_of
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.ship import ship
from tests.kit.commands import run
from tests.kit.doubled import within_one_file
from tests.kit.law.folders import PUT, Folders, play
from tests.kit.samples.makers import START, simulated
from tests.kit.servers.loopback import Versitygw

URL = f"s3://{Versitygw.bucket}/law"


@pytest.fixture
def environ(s3, monkeypatch) -> dict[str, str]:
    """An empty bucket; a put is a change before which a process may die."""
    shutil.rmtree(s3.folder / "data" / s3.bucket / "law", ignore_errors=True)
    put = Bucket.put

    def mortal(self: Bucket, key: str, path: Path) -> None:
        sys.audit(PUT)
        put(self, key, path)

    monkeypatch.setattr(Bucket, "put", mortal)
    return s3.environ


@pytest.mark.service
@pytest.mark.parametrize("seed", range(4))
def test_rows_count_once_in_a_copy_of_a_bucket(seed: int, environ, tmp_path) -> None:
    """Two stores ship to it; each is merged by itself, so that files share rows."""
    world = Folders(random.Random(seed), tmp_path)
    bucket, cache = bucket_of(URL, environ), tmp_path / "cache"
    world.places["copy"] = mirrored(bucket, cache)

    def fetch() -> None:
        world.law("copy").may_come(world.law("bucket").may)
        if world.done("fetch", lambda: mirrored(bucket, cache)):
            world.law("copy").came(world.law("bucket").must, world.law("bucket").rolled, world.step)

    works = [
        (4, world.write),
        (2, lambda: world.done("seal", lambda: seal(world.root("own")))),
        (3, lambda: world.ship("own", "bucket", URL, environ)),
        (2, lambda: world.ship("own", "shared", str(world.root("shared")), {})),
        (2, lambda: world.ship("shared", "bucket", URL, environ)),
        (2, lambda: world.compact("own")),
        (2, lambda: world.compact("shared")),
        (1, world.make_room),
        (4, fetch),
    ]
    play(world, works, 20, [("own",), ("copy",)])
    assert len(world.rows) > 1


@pytest.mark.service
def test_a_bucket_whose_rows_stand_twice_is_repaired(
    environ, tmp_path, monkeypatch, capsys
) -> None:
    for name, value in (environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}).items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "own"
    simulated(root, 4 * 3600, probe={"period": "10s"})
    for path in (root / "spool").rglob("*.spool"):
        os.utime(path, ns=(START, START))
    seal(root)
    rows = Store(root).count()
    twice = within_one_file(root)
    ship(root, URL, environ)

    def told(*words: str) -> tuple[int, dict[str, object]]:
        readable_once.cache_clear()
        capsys.readouterr()
        code = run("store", "check", "--json", *words, store=URL)
        return code, json.loads(capsys.readouterr().out)

    code, found = told()
    assert (code, found["rows"], found["doubled_rows"]) == (1, rows, twice)
    assert told("--repair")[0] == 0
    code, found = told()
    assert (code, found["rows"], found["doubled_rows"]) == (0, rows, 0)
    assert Store(mirrored(bucket_of(URL, environ), tmp_path / "another")).count() == rows
