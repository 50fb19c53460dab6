"""A sweep against a real NFS server behind a slow link."""

import json

import pytest

from iosonde.cli.main import main
from tests.kit.ganesha import Ganesha, missing

pytestmark = pytest.mark.service


@pytest.fixture
def ganesha(tmp_path):
    if gone := missing():
        pytest.skip(
            f"{gone} not found; expected nfs-ganesha, nfs-ganesha-vfs, rpcbind, iproute2 and root"
        )
    server = Ganesha(tmp_path)
    try:
        # An answer to WRITE is some 200 bytes: about 600 a second.
        server.start("1mbit")
        yield server
    finally:
        server.close()


def test_reads_wait_beyond_the_knee_and_nothing_stays(ganesha, tmp_path, capsys):
    words = f"bench nfs {ganesha.url} --i-may-load-this-server --from 100 --to 1600 --factor 2"
    words += " --duration 1500ms --refine 0 --file-size 256k --ceiling 3s --format json"
    picture = tmp_path / "sweep.png"
    code = main([*words.split(), "--plot", str(picture), "--store", str(tmp_path / "store")])
    assert code == 0, capsys.readouterr().err
    rows = json.loads(capsys.readouterr().out)["rows"]
    reads = {row["parameters"]["write_rate_per_s"]: row for row in rows if row["op"] == "data_read"}
    rates = sorted(reads)
    slow, quick = reads[rates[-1]], reads[100.0]
    assert slow["q50_ns"] > 5 * quick["q50_ns"], (slow["q50_ns"], quick["q50_ns"])
    assert quick["max_ns"] < 1e9
    assert quick["failed"] == 0
    assert picture.stat().st_size > 10_000
    assert ganesha.alive()
    assert list(ganesha.export.iterdir()) == []
