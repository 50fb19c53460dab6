"""/proc/net/rpc/nfs and collectl's recording of it: every trap of its counters."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from iosonde.connectors.client import mountstats, proc_net_rpc, raw_collectl
from iosonde.connectors.client.rpc_counters import operations
from iosonde.connectors.source import head_of
from tests.connectors.test_mountstats import snapshot
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_700_000_000


def v3(reads: int, creates: int = 0, nulls: int = 1) -> str:
    counts = [nulls, 2, 0, 1, 1, 0, reads, 0, creates, *[0] * 9, 2, 1, 1, 0]
    return "proc3 22 " + " ".join(map(str, counts))


def v4(reads: int, opens: int = 0, length: int = 69) -> str:
    counts = [5, reads, 0, 0, opens, *[0] * (length - 5)]
    return f"proc4 {length} " + " ".join(map(str, counts))


def page(*lines: str) -> str:
    return "net 0 0 0 0\nrpc 268 0 268\n" + "".join(f"{line}\n" for line in lines)


def log(path: Path, *pages: tuple[int, str]) -> Path:
    path.write_text("".join(f"{at}\n{text}" for at, text in pages))
    return path


def test_versions_add_up_and_their_length_may_differ(tmp_path):
    path = log(
        tmp_path / "n1.rpcnfs",
        (T, page(v3(10), v4(100, 3, 48))),
        (T + 30, page(v3(15, 2), v4(107, 4, 48))),
    )
    assert proc_net_rpc.recognises(head_of(path))
    out = take(proc_net_rpc, path)
    assert out.series("read_ops", "n1") == [(T * S, 30 * S, 12.0)]
    assert out.values("opens", "n1") == [1.0]
    assert out.values("creates", "n1") == [2.0]
    assert {(b.source, b.level) for b in out.blocks} == {("rpc", "client")}


def test_what_follows_known_procedures_is_other():
    name, found = operations("proc4 40 " + " ".join(["1"] * 40 + ["77"])) or ("", {})
    assert name == "proc4"
    assert found["other_ops"] == 40 - 2 - len(_known())
    assert sum(found.values()) == 38, (
        "NULL and RENEW are the client's own; beyond the count nothing"
    )


def _known() -> list[str]:
    words = "READ WRITE COMMIT OPEN OPEN_NOATTR CLOSE SETATTR ACCESS GETATTR LOOKUP REMOVE RENAME"
    return [*words.split(), "LINK", "SYMLINK", "CREATE", "STATFS", "READDIR"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("proc3 22 1 2 3", "proc3 announces '22' numbers"),
        ("proc4 many 1 2 3", "proc4 announces 'many' numbers"),
        ("proc4 999999999 1", "announces"),
        ("proc3 2 1 -4", "proc3 has '-4'"),
        ("proc3", "announces ''"),
    ],
)
def test_counters_that_are_none(line, error):
    with pytest.raises(ValueError, match=error):
        operations(line)


def test_a_counter_that_fell_began_anew(tmp_path):
    path = log(
        tmp_path / "n1.rpcnfs", *((T + 30 * i, page(v3(n))) for i, n in enumerate((50, 60, 4, 9)))
    )
    out = take(proc_net_rpc, path)
    values = out.values("read_ops", "n1")
    assert values[0] == 10
    assert values[1] != values[1], "what passed is not known"
    assert values[2] == 5
    assert out.flags()["counter-reset"] >= 1


def test_a_broken_line_costs_its_snapshot_only(tmp_path):
    pages = [(T, page(v3(10))), (T + 30, page("proc3 22 1 2")), (T + 60, page(v3(30)))]
    path = log(tmp_path / "n1.rpcnfs", *pages)
    out = take(proc_net_rpc, path)
    assert out.series("read_ops", "n1") == [(T * S, 60 * S, 20.0)]
    assert "line 8: proc3 announces '22' numbers" in out.told[0]


def test_files_of_one_snapshot_are_as_old_as_they_are(tmp_path):
    paths = []
    for at, reads in ((T, 10), (T + 30, 17)):
        folder = tmp_path / str(at)
        folder.mkdir()
        paths.append(folder / "n1.rpcnfs")
        paths[-1].write_text(page(v3(reads)))
        os.utime(paths[-1], (at, at))
    out = take(proc_net_rpc, paths)
    assert out.series("read_ops", "n1") == [(T * S, 30 * S, 7.0)]
    assert out.flags()["estimated"] >= 1


def test_the_node_is_what_is_said(tmp_path):
    path = log(tmp_path / "log.txt", (T, page(v3(1))), (T + 9, page(v3(2))))
    assert take(proc_net_rpc, path, node="n7").values("read_ops", "n7") == [1.0]


def test_a_servers_file_is_not_a_clients(tmp_path):
    path = real("nfs/proc_net_rpc_nfsd.txt")
    assert not proc_net_rpc.recognises(head_of(path))
    assert proc_net_rpc.recognises(head_of(real("nfs/proc_net_rpc_nfs.txt")))


def recording(*records: tuple[float, str], host: str = "n3") -> bytes:
    head = f"# Collectl:   V4.3.1-1  Options: -sf\n# Host:       {host}  DaemonOpts: \n"
    body = "".join(f">>> {at:.3f} <<<\ncpu  1 2 3\n{text}load 2.1 0.5\n" for at, text in records)
    return (head + body).encode()


def test_a_recording_is_exact(tmp_path):
    path = tmp_path / "x-20261121.raw.gz"
    sides = "nfsc-net 0 0\nnfsc-{}\nnfss-rc 0 0 0\nnfss-{}\nnfss-proc4ops 76 1 2\n"
    data = recording((T, sides.format(v3(5), v3(50))), (T + 30.5, sides.format(v3(6), v3(90))))
    path.write_bytes(gzip.compress(data))
    assert raw_collectl.recognises(head_of(path))
    out = take(raw_collectl, path)
    assert out.series("read_ops", "n3", level="client") == [(T * S, 30_500_000_000, 1.0)]
    assert out.series("read_ops", "n3", level="server") == [(T * S, 30_500_000_000, 40.0)]
    assert not out.told


def test_a_real_recording():
    out = take(raw_collectl, real("nfs/collectl_vmnode01.raw.gz"))
    totals = {name: sum(out.series(name, "vmnode01", level="client")[i][2] for i in range(26)) for name in
              ("read_ops", "creates", "unlinks", "setattrs")}  # fmt: skip
    assert totals == {"read_ops": 256, "creates": 41, "unlinks": 40, "setattrs": 40}


def test_mountstats_of_many_nodes_stay_apart(tmp_path):
    """The same export at the same place on each: without the nodes' names they would be one series."""
    paths = []
    for node, counts in (("n1", (10, 30)), ("n2.site.org", (500, 507))):
        paths.append(tmp_path / f"{node}.mountstats")
        text = "".join(f"{T + 30 * i}\n{snapshot(n)}" for i, n in enumerate(counts))
        paths[-1].write_text(text)
    out = take(mountstats, paths)
    assert out.values("read_ops", "n1:/m", "srv:/exp") == [20.0]
    assert out.values("read_ops", "n2.site.org:/m", "srv:/exp") == [7.0]


def test_mutated(tmp_path):
    text = "".join(f"{T + 30 * i}\n{page(v3(9 * i), v4(7 * i))}" for i in range(4))
    survives(proc_net_rpc, tmp_path / "n1.rpcnfs", text.encode())
    survives(
        raw_collectl, tmp_path / "r.raw", recording(*((T + i, f"nfsc-{v3(i)}\n") for i in range(4)))
    )
