"""What ``lctl get_param`` prints: counters and room of targets and mounts, of one server or of many at once."""

from __future__ import annotations

import random

import pytest

from iosonde.connectors.lustre import get_param
from iosonde.connectors.source import head_of
from iosonde.connectors.sources import connector_of
from tests.kit.records.connected import survives, take

T0 = 1790000000
OST, MDT, MOUNT = "obdfilter.work-OST0000", "mdt.work-MDT0000", "llite.work-ffff000189257000"


def stats(name, at, file="stats", **counters):
    lines = "".join(
        f"{word:25} {n} samples [bytes] 1 4194304 {total} {10**24}\n"
        if word.endswith("_bytes")
        else f"{word:25} {n} samples [usecs] 1 9 {total} 99\n"
        for word, (n, total) in counters.items()
    )
    return (
        f"{name}.{file}=\nsnapshot_time             {at}.611962111 secs.nsecs\n"
        f"start_time                {T0 - 99}.367572621 secs.nsecs\n"
        f"elapsed_time              {at - T0 + 99}.244389490 secs.nsecs\n{lines}"
    )


def text(at, n=1):
    return (
        "version=2.16.0_x\nhealth_check=healthy\nmdt.work-MDT0000.exports.0@lo.uuid=\n52cb-dca\n"
        f"{OST}.kbytestotal=1000\n{OST}.kbytesfree=400\n{OST}.num_exports=5\n"
        "osd-ldiskfs.work-OST0000.brw_stats=\n"
        f"snapshot_time:            {at}.55 secs.nsecs\n\nI/O time (1/1000s)     ios   % cum %\n1:  0 0\n"
        + stats(OST, at, write_bytes=(10 * n, 4096 * n), write=(10 * n, 7), req_waittime=(1, 1))
        + f"{OST}.exports.10.0.0.1@o2ib.stats=\nsnapshot_time {at}.1 secs.nsecs\nwrite_bytes 9 samples [bytes] 1 1 9\n"
        + stats(MDT, at, "md_stats", open=(3 * n, 1), mknod=(n, 1))
        + stats(MOUNT, at, read_bytes=(n, 512 * n), inode_permission=(1, 1))
        + f"{MOUNT}.statahead_stats=\nstatahead total: 1025277\nagl total: 4\n"
        + f"{OST}.job_stats=\njob_stats:\n- job_id:          4711\n  snapshot_time:   {at}.0 secs.nsecs\n"
        + f"  write_bytes:     {{ samples: {n}, unit: bytes, min: 1, max: 9, sum: {n * 100} }}\n"
        + "mdd.work-MDT0000.changelog_users=\ncurrent_index: 0\nID  index (idle) mask\n"
    )


@pytest.mark.parametrize("begin", ["", "BEGIN {at}\n", "{at}\n"])
def test_two_texts_in_a_log(tmp_path, begin):
    path = tmp_path / "log"
    path.write_text(
        "".join(begin.format(at=T0 + 60 * n) + text(T0 + 60 * n, n + 1) for n in (0, 1, 3))
    )
    assert connector_of(path) is get_param
    out = take(get_param, path)
    assert (out.told, out.ended) == ([], None)
    second = 0 if begin else 611962111
    assert out.series("written_bytes", "work-OST0000", "work", "ost") == [
        (T0 * 10**9 + second, 60 * 10**9, 4096),
        ((T0 + 60) * 10**9 + second, 120 * 10**9, 8192),
    ]
    assert [v for *_, v in out.series("write_ops", "work-OST0000", "work", "ost")] == [10, 20]
    assert [v for *_, v in out.series("opens", "work-MDT0000", "work", "mdt")] == [3, 6]
    mount = out.series("read_bytes", "work-ffff000189257000", "work", "client")
    assert [v for *_, v in mount] == [512, 1024]
    room = out.series("used_bytes", "work-OST0000", "work", "ost")
    assert [v for *_, v in room] == [600 * 1024] * 3
    (job,) = out.jobs
    assert job.scalars["own_written_bytes"].value == 400
    assert [v for *_, v in out.series("written_bytes", "4711", "work", "job")] == [100, 200]
    assert {note.flag for block in out.blocks for note in block.notes} == set()


def test_a_text_a_file(tmp_path):
    paths = []
    for n in (1, 0):
        paths.append(tmp_path / f"{n}.txt")
        paths[-1].write_text(text(T0 + 60 * n, n + 1))
    out = take(get_param, paths)
    assert out.told == []
    assert [v for *_, v in out.series("written_bytes", "work-OST0000", "work", "ost")] == [4096]
    alone = take(get_param, paths[0])
    assert [word for word in alone.told if "one snapshot" in word] == alone.told
    assert alone.told
    assert alone.series("used_bytes", "work-OST0000", "work", "ost")


def test_lines_of_many_servers_mixed_by_pdsh(tmp_path):
    chance = random.Random(7)
    lines = []
    for at, n in ((T0, 1), (T0 + 60, 2)):
        of = [
            [
                f"oss{k}: {line}"
                for line in stats(
                    f"obdfilter.work-OST000{k}", at, read_bytes=(n, 100 * n * n * k)
                ).splitlines()
            ]
            for k in (1, 2, 3)
        ]
        while any(of):
            lines.append(chance.choice([one for one in of if one]).pop(0))
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    out = take(get_param, path)
    assert out.told == []
    for k in (1, 2, 3):
        steps = out.series("read_bytes", f"work-OST000{k}", "work", "ost")
        assert [(step, value) for _, step, value in steps] == [(60 * 10**9, 300 * k)]


def test_a_bad_line_has_its_place(tmp_path):
    path = tmp_path / "log"
    path.write_text(
        f"{OST}.kbytestotal=1\n{OST}.stats=\nsnapshot_time {T0} secs.usecs\nread_bytes x\n"
    )
    told = take(get_param, path).told
    assert f"{path}, line 4: no counter: 'read_bytes x'" in told[0]


def test_other_texts_are_not_taken_for_it(tmp_path):
    path = tmp_path / "log"
    for other in ("a=1\nb=2\n", f"{OST}.job_stats=\njob_stats:\n", "snapshot_time 1 secs.usecs\n"):
        path.write_text(other)
        assert not get_param.recognises(head_of(path))


def test_mutated_texts_end_in_messages(tmp_path):
    survives(get_param, tmp_path / "log", (text(T0) + text(T0 + 60, 2)).encode(), 150)
