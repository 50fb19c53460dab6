"""A real NFS server: sweeps behind a slow link and a slow processor, the metadata benchmark, the probe."""

import json

import pytest

from iosonde.cli.main import main
from tests.kit import harness
from tests.kit.harness import wait_for
from tests.kit.servers.ganesha import Ganesha, missing, quota_missing

pytestmark = [pytest.mark.service, pytest.mark.measures]

OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")


@pytest.fixture
def ganesha(tmp_path):
    if gone := missing():
        pytest.skip(
            f"{gone} not found; expected nfs-ganesha, nfs-ganesha-vfs, rpcbind, iproute2 and root"
        )
    server = Ganesha(tmp_path)
    try:
        yield server
    finally:
        server.close()


def sweep(ganesha, tmp_path, capsys, rates):
    """Reads by write rate; the picture is there, the server alive, the export empty."""
    words = f"bench nfs {ganesha.url} --i-may-load-this-server --factor 2 --refine 0 {rates}"
    words += " --duration 1500ms --file-size 256k --ceiling 3s --format json"
    picture = tmp_path / "sweep.png"
    code = main([*words.split(), "--plot", str(picture), "--store", str(tmp_path / "store")])
    assert code == 0, capsys.readouterr().err
    rows = json.loads(capsys.readouterr().out)["rows"]
    reads = {row["parameters"]["write_rate_per_s"]: row for row in rows if row["op"] == "data_read"}
    assert picture.stat().st_size > 10_000
    assert ganesha.alive()
    assert list(ganesha.export.iterdir()) == []
    return reads


def test_reads_wait_beyond_the_knee_of_a_slow_link(ganesha, tmp_path, capsys):
    # An answer to WRITE is some 200 bytes: about 600 a second.
    ganesha.start("1mbit")
    reads = sweep(ganesha, tmp_path, capsys, "--from 100 --to 1600")
    slow, quick = reads[max(reads)], reads[100.0]
    assert slow["q50_ns"] > 5 * quick["q50_ns"], (slow["q50_ns"], quick["q50_ns"])
    assert quick["max_ns"] < 1e9
    assert quick["failed"] == 0


def test_reads_wait_beyond_the_knee_of_a_slow_processor(ganesha, tmp_path, capsys):
    if gone := quota_missing():
        pytest.skip(f"{gone} not found; expected a controller that limits processors")
    # Behind a larger share the writes end the sweep while half of the reads still meet a part of it that is left.
    ganesha.start(share=0.02)
    reads = sweep(ganesha, tmp_path, capsys, "--from 50 --to 12800")
    quick = reads[50.0]
    slow = max(reads.values(), key=lambda row: row["q50_ns"])
    assert slow["q50_ns"] > 5 * quick["q50_ns"], (slow["q50_ns"], quick["q50_ns"])
    assert quick["failed"] == 0


def test_a_second_sweep_on_the_export_is_refused(ganesha, tmp_path, capsys):
    from iosonde import _core

    ganesha.start()
    ports = (12049, 12050, 111)
    place = (ganesha.address, str(ganesha.export))
    other = _core.NfsSession(*place, ports, (0, 0, None), 10_000, (7, "on node7, since noon"))
    other.prepare(4096, lambda _: True)
    words = ["bench", "nfs", ganesha.url, "--i-may-load-this-server", "--no-store"]
    assert main(words) != 0
    said = capsys.readouterr().err
    assert "in use by another run (pid " in said
    assert "on node7, since noon" in said
    other.clean()
    assert list(ganesha.export.iterdir()) == []


def test_an_export_that_demands_reserved_ports(ganesha, tmp_path, capsys):
    ganesha.start(secure=True)
    store = ["--no-store", "-D", "1", "-P", "4", "-I", "2", "-R", "1"]
    assert main(["bench", "metadata", ganesha.url, *store]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["bench", "metadata", f"{ganesha.url}&resvport=0", *store]) != 0
    assert "below 1024" in capsys.readouterr().err


def test_the_probe_says_that_a_stopped_server_hangs_and_goes_on_after(ganesha, tmp_path):
    ganesha.start()
    config = (
        f'window = "2s"\n[[target]]\npath = "{ganesha.url}"\nname = "filer"\nperiod = "100ms"\n'
        'file_size = "4MiB"\nblock_size = "256KiB"\npool = 32\n'
        'deadline = "500ms"\nretry = "300ms"\nretry_max = "1s"\n'
    )
    with harness.running(tmp_path, config) as agent:

        def oks(least):
            return lambda: all(agent.oks("filer", op) >= least[op] for op in OPS)

        def breakers(state):
            found = (agent.metric("iosonde_breaker_open", target="filer", op=op) for op in OPS)
            return all(one == state for one in found)

        wait_for("ops to end well", oks(dict.fromkeys(OPS, 10)))
        ganesha.freeze()
        wait_for("all breakers to open", lambda: breakers(1.0))
        ganesha.thaw()
        wait_for("all breakers to close", lambda: breakers(0.0))
        wait_for("ops to go on", oks({op: agent.oks("filer", op) + 5 for op in OPS}))
        assert agent.stop() == 0
    lines = [
        json.loads(line)
        for file in agent.store.glob("events/*/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    hangs = {line["id"]: line for line in lines if line["kind"] == "hang"}
    assert {hang["op"] for hang in hangs.values()} == set(OPS)
    assert all(hang["ended_ns"] for hang in hangs.values())
