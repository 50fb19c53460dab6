"""Lustre's /proc trees of several versions, job_stats, and archives that mean harm."""

from __future__ import annotations

import gzip
import io
import random
import re
import tarfile

import numpy as np
import pytest

from iosonde.connectors import tar_members
from iosonde.connectors.lustre import job_stats as lustre_jobstats
from iosonde.connectors.lustre import proc as lustre_proc
from iosonde.connectors.source import head_of
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from tests.kit.records.lmt_files import Got, real
from tests.kit.samples.latencies import DATA

T0 = 1705616007
JOB = "  snapshot_time:   {at}\n  {name}:      {{ samples: {n}, unit: bytes, min: 1, max: 9, sum: {total} }}\n"


def stats(at, read=None, written=None, more=""):
    lines = [f"snapshot_time             {at}.021612914 secs.nsecs"]
    for name, pair in (("read_bytes", read), ("write_bytes", written)):
        if pair is not None:
            lines.append(f"{name}  {pair[0]} samples [bytes] 4096 1048576 {pair[1]}")
    return "\n".join([*lines, more, ""])


def tree(at, read, jobs="", opens=5):
    """A server of the 2.12 kind with one OST and one MDT."""
    ost, mdt = "work-OST0000", "work-MDT0000"
    files = {
        f"proc/fs/lustre/obdfilter/{ost}/stats": stats(at, (read // 10, read), (1, 7)),
        f"proc/fs/lustre/obdfilter/{ost}/num_exports": "6\n",
        f"sys/fs/lustre/obdfilter/{ost}/kbytestotal": "100\n",
        f"sys/fs/lustre/obdfilter/{ost}/kbytesfree": "40\n",
        f"proc/fs/lustre/mdt/{mdt}/md_stats": stats(
            at, more=f"open  {opens} samples [usecs] 1 2 3 4\nping 4 samples [reqs]"
        ),
        f"proc/fs/lustre/osd-zfs/{mdt}/filestotal": "50\n",
        f"proc/fs/lustre/osd-zfs/{mdt}/filesfree": "20\n",
        "proc/fs/lustre/llite/work-ffff88105db50000/stats": stats(
            at, (1, read), None, "open 3 samples [regs]"
        ),
    }
    if jobs:
        files[f"proc/fs/lustre/obdfilter/{ost}/job_stats"] = "job_stats:\n" + jobs
    return files


def packed(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            data = text.encode()
            info.size, info.mtime = len(data), T0
            tar.addfile(info, io.BytesIO(data))
    return path


def unpacked(path, files):
    for name, text in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def under(prefix, files):
    return {f"{prefix}/{name}": text for name, text in files.items()}


def two(**more):
    return under("a", tree(T0, 1000, **more)) | under("b", tree(T0 + 60, 1600, opens=9, **more))


@pytest.mark.parametrize("form", ["w", "w:gz", "folder"])
def test_two_snapshots_give_what_passed_between_them(tmp_path, form):
    path = (
        unpacked(tmp_path / "f", two()) if form == "folder" else packed(tmp_path / "t", two(), form)
    )
    if form == "folder":
        assert lustre_proc.recognises_folder(path)
        assert not lustre_proc.recognises_folder(
            tmp_path / "f" / "a" / "proc" / "fs" / "lustre" / "mdt"
        )
    else:
        assert lustre_proc.recognises(head_of(path))
    got = Got(lustre_proc, path)
    assert not got.told
    block = got.one("ost", "read_bytes")
    assert (block.value.tolist(), block.step_ns.tolist()) == ([[600]], [60 * 10**9])
    assert block.time_ns.tolist() == [T0 * 10**9 + 21612914]
    assert got.one("ost", "read_ops").value.tolist() == [[60]]
    assert got.one("mdt", "opens").value.tolist() == [[4]]
    assert got.one("client", "read_bytes").value.tolist() == [[600]]
    assert got.one("client", "read_bytes").system == "work"
    assert got.one("ost", "used_bytes").value.tolist() == [[60 * 1024.0]] * 2
    assert got.one("mdt", "used_inodes").value.tolist() == [[30]] * 2
    assert got.one("ost", "clients").value.tolist() == [[6]] * 2


def test_one_snapshot_is_no_delta(tmp_path):
    got = Got(lustre_proc, packed(tmp_path / "t", tree(T0, 1000)))
    assert {b.kind for b in got.blocks} == {"gauge"}
    (told,) = got.told
    assert "one snapshot" in str(told)


def test_a_counter_that_fell_back_and_one_that_is_there_twice(tmp_path):
    files = under("a", tree(T0, 1000)) | under("b", tree(T0 + 9, 10))
    files["b/proc/fs/lustre/obdfilter/work-OST0000/stats"] += (
        "read_bytes 9 samples [bytes] 1 1 99999\n"
    )
    got = Got(lustre_proc, packed(tmp_path / "t", files))
    assert np.isnan(got.one("ost", "read_bytes").value).all()
    assert {"counter-reset", "duplicate"} <= got.flags()


def test_times_from_files_where_no_statistics_say_them(tmp_path):
    files = {"proc/fs/lustre/obdfilter/w-OST0000/num_exports": "3"}
    got = Got(lustre_proc, packed(tmp_path / "t", files))
    assert got.one("ost", "clients").time_ns.tolist() == [T0 * 10**9]
    assert got.flags() == {"estimated"}


EXPECTED = re.compile(
    r"tstats: (\S+): (read_bytes|write_bytes|open|getattr)='(\d+) samples \[\w+\](?: \d+ \d+ (\d+))?"
)
METRICS = {
    "read_bytes": "read_bytes",
    "write_bytes": "written_bytes",
    "open": "opens",
    "getattr": "getattrs",
}


@pytest.mark.parametrize("version", ["1.8.3", "2.12.9_12"])
def test_real_trees_as_lmt_reads_them(tmp_path, version):
    """A tree of zeros a minute before makes every counter a delta; LMT's own expectation says which."""
    with tarfile.open(real(f"lmt/lustre_proc_{version}.tar.gz")) as tar:
        texts = {m.name: tar.extractfile(m).read().decode() for m in tar if m.isfile()}
    want = {}
    for name, counter, samples, total in EXPECTED.findall(texts[f"{version}/outputs/t05.exp"]):
        want[name, METRICS[counter]] = float(total if counter.endswith("bytes") else samples)
    mine = {n.partition("/")[2]: t for n, t in texts.items() if "/fs/lustre/" in n}
    zeros = {
        n: re.sub(
            r"\b(\d{9,10})\.",
            lambda m: f"{int(m[1]) - 60}.",
            re.sub(r" \d+ samples (\[\w+\]).*", r" 0 samples \1", t),
        )
        for n, t in mine.items()
    }
    got = Got(lustre_proc, packed(tmp_path / "t", under("a", zeros) | under("b", mine)))
    found = {
        (name, b.metric): b.value[0, i]
        for b in got.blocks
        if b.kind == "delta"
        for i, name in enumerate(b.components)
    }
    assert len(want) >= 6
    assert {key: found[key] for key in want} == want
    for line in texts[f"{version}/outputs/t10.exp"].splitlines():
        for name, files_free, files, free, total in re.findall(
            r"([\w-]+-(?:OST|MDT)\w{4});(\d+);(\d+);(\d+);(\d+);", line
        ):
            level = "ost" if "OST" in name else "mdt"
            for metric, expected in (
                ("total_bytes", int(total) * 1024),
                ("used_inodes", int(files) - int(files_free)),
            ):
                (block,) = got.all(level, metric)
                assert block.value[-1, block.components.index(name)] == expected
            assert int(free) <= int(total)


def test_a_real_tree_with_jobs():
    got = Got(lustre_proc, real("prometheus/lustre_exporter_hpe_procsys.tar.gz"))
    jobs = {item.job_id: item for item in got.items if isinstance(item, Job)}
    assert jobs["24"].file_system == "lustrefs"
    assert jobs["24"].scalars["own_written_bytes"].value >= 215147593728
    assert jobs["24"].scalars["own_written_bytes"].unit == "bytes"


def job(name, at, total, n=3, counter="read_bytes"):
    return f"- job_id:          {name}\n" + JOB.format(at=at, name=counter, n=n, total=total)


def text(tmp_path, *parts):
    path = tmp_path / "jobs"
    path.write_text("".join(parts))
    return path


def head(at=None, ost="obdfilter.w-OST0000"):
    return (f"BEGIN {at}\n" if at else "") + f"{ost}.job_stats=\njob_stats:\n"


def test_jobs_between_two_snapshots(tmp_path):
    path = text(
        tmp_path,
        *(head(T0), job(4711, T0, 100), job("gone", T0, 5), job("fell", T0, 50)),
        *(
            head(T0 + 60),
            job(4711, T0 + 60, 150, n=8),
            job("new.0", T0 + 50, 9),
            job("fell", T0 + 60, 1),
        ),
    )
    assert lustre_jobstats.recognises(head_of(path))
    got = Got(lustre_jobstats, path)
    block = got.one("job", "read_bytes")
    moved = dict(zip(block.components, block.value[0].tolist(), strict=True))
    assert (moved["4711"], moved["new.0"]) == (50, 9)
    assert np.isnan([moved["gone"], moved["fell"]]).all()
    assert "counter-reset" in {note.flag for note in block.notes}
    assert (block.system, block.step_ns.tolist()) == ("w", [60 * 10**9])
    assert not got.told
    jobs = {
        item.job_id: item.scalars["own_reads"].value for item in got.items if isinstance(item, Job)
    }
    assert jobs == {"4711": 8, "new.0": 3, "gone": 3, "fell": 3}


def test_a_job_is_summed_over_targets_and_its_many_names(tmp_path):
    one = (
        head(T0)
        + job("4711:user:n1", T0, 1)
        + job("4711:user:n2", T0, 2)
        + head(ost="obdfilter.w-OST0001")
        + job("4711", T0, 4)
    )
    got = Got(lustre_jobstats, text(tmp_path, one))
    (item,) = got.items
    assert item.job_id == "4711"
    assert item.scalars["own_read_bytes"].value == 7
    assert item.scalars["own_read_bytes"].n == 3
    assert "own_written_bytes" not in item.scalars
    assert "own_bytes" not in item.scalars
    assert "one snapshot" in str(got.told[0])


def test_a_target_that_was_not_read_makes_its_jobs_step_unknown(tmp_path):
    two_targets = head(T0 + 60) + job(1, T0, 5) + head(ost="obdfilter.w-OST0001") + job(1, T0, 5)
    got = Got(lustre_jobstats, text(tmp_path, head(T0), job(1, T0, 1), two_targets))
    assert np.isnan(got.one("job", "read_bytes").value).all()


def test_a_target_that_lists_no_job_was_read_all_the_same(tmp_path):
    empty = head(T0)
    got = Got(lustre_jobstats, text(tmp_path, empty, head(T0 + 60), job(1, T0 + 50, 5)))
    assert got.one("job", "read_bytes").value.tolist() == [[5]]
    files = two(jobs=job(1, T0, 5))
    files["a/proc/fs/lustre/obdfilter/work-OST0000/job_stats"] = "job_stats:\n"
    got = Got(lustre_proc, packed(tmp_path / "t", files))
    assert got.one("job", "read_bytes").value.tolist() == [[5]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('"a: {b}, \\"c\\""', 'a: {b}, "c"'),
        ("", ""),
        ("- job_id: 3", "- job_id: 3"),
        ("4711:", "4711"),
        ("12ab", "12ab"),
        ("77.batch", "77"),
        ("x" * 999, "x" * 256),
        ("*&!|>%@`", "*&!|>%@`"),
    ],
)
def test_names_of_jobs_may_be_anything(tmp_path, name, expected):
    got = Got(lustre_jobstats, text(tmp_path, head(), job(name, T0, 1)))
    assert [item.job_id for item in got.items] == [expected]


def test_bad_lines_of_jobs_are_told_with_their_place(tmp_path):
    bad = "  write_bytes: { samples: nan, unit: bytes }\n  read: 7\n?\n  write: { samples: -1 }\n"
    got = Got(lustre_jobstats, text(tmp_path, head(), job(1, T0, 10) + bad + job(2, T0, 20)))
    assert [item.scalars["own_read_bytes"].value for item in got.items] == [10, 20]
    assert [int(str(e).split("line ")[1].split(":")[0]) for e in got.told[:4]] == [6, 7, 8, 9]


def test_old_and_new_units_quotes_and_empty_lists():
    path = DATA / "nfs" / "lustre_job_stats_SYNTHETIC.yaml"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    assert lustre_jobstats.recognises(head_of(path))
    got = Got(lustre_jobstats, path)
    jobs = {item.job_id: item for item in got.items if isinstance(item, Job)}
    assert set(jobs) == {":10001:n012", "4711", "kworker/3:1.0"}
    assert jobs["4711"].scalars["own_bytes"].value == 4831838208 + 5468160


def test_links_devices_and_absurd_sizes_are_left_out(tmp_path):
    path = tmp_path / "t"
    name = "proc/fs/lustre/obdfilter/w-OST0000/"
    with tarfile.open(path, "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"{name}num_exports")
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        data = b"7\n"
        info = tarfile.TarInfo("../../" * 40 + f"{name}num_exports")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
        huge = tarfile.TarInfo(f"{name}stats")
        huge.size = 1 << 40
        tar.fileobj.write(huge.tobuf(tarfile.GNU_FORMAT))
    with pytest.raises(InputFileError, match="bytes unpacked"):
        list(tar_members.members(path, lambda _: None, re.compile("num_exports")))
    told = []
    read = lustre_proc.read(path, lustre_settings(), told.append)
    block = next(read)
    assert block.value.tolist() == [[7]]
    with pytest.raises(InputFileError, match="bytes unpacked"):
        list(read)


def lustre_settings():
    from iosonde.connectors.source import Settings

    return Settings()


def test_a_bomb_costs_no_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "t.gz"
    size = 100 << 20
    info = tarfile.TarInfo("proc/fs/lustre/obdfilter/w-OST0000/stats")
    info.size = size
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(info.tobuf())
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
        file.write(bytes(1024))
    told = []
    tracemalloc.start()
    with pytest.raises(InputFileError, match="more than 100 times its size"):
        list(lustre_proc.read(path, lustre_settings(), told.append))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "bytes are too many" in str(told[0])
    assert peak < 8 << 20


def test_long_names_of_both_kinds(tmp_path):
    name = "x" * 150 + "/proc/fs/lustre/obdfilter/w-OST0000/num_exports"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        path = tmp_path / str(form)
        with tarfile.open(path, "w", format=form) as tar:
            info = tarfile.TarInfo(
                name if form != tarfile.USTAR_FORMAT else "y" * 60 + "/" + name[100:]
            )
            info.size = 1
            tar.addfile(info, io.BytesIO(b"5"))
        assert Got(lustre_proc, path).one("ost", "clients").value.tolist() == [[5]]


def test_a_link_in_a_folder_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("9")
    folder = unpacked(tmp_path / "f", tree(T0, 10))
    file = folder / "proc/fs/lustre/obdfilter/work-OST0000/num_exports"
    file.unlink()
    file.symlink_to(secret)
    assert not Got(lustre_proc, folder).all("ost", "clients")


def test_no_tree_is_said(tmp_path):
    with pytest.raises(InputFileError, match="holds no statistics of Lustre"):
        Got(lustre_proc, packed(tmp_path / "t", {"a": "b"}))
    assert not lustre_proc.recognises(head_of(packed(tmp_path / "u", {"a": "b"})))


def test_mutated_archives_end_in_messages(tmp_path):
    rng = random.Random(8)
    whole = packed(tmp_path / "t", two(jobs=job(1, T0, 5)), "w").read_bytes().rstrip(b"\0") + bytes(
        1024
    )
    bad = tmp_path / "bad"
    for turn in range(80):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 10)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cut = bytes(data[: rng.randrange(600, len(data))] if turn % 3 == 0 else data)
        bad.write_bytes(gzip.compress(cut)[: -(turn % 4) or None] if turn % 2 else cut)
        lustre_proc.recognises(head_of(bad))
        try:
            blocks = Got(lustre_proc, bad).blocks
        except InputFileError as error:
            told = str(error)
        else:
            told = str(bad)
            assert not any((block.value < 0).any() for block in blocks)
        assert str(bad) in told
