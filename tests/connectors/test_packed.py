"""Files as they lie on disks: packed by one thing or another, cut, of other alphabets, and what is no file at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile

import pytest

from iosonde.connectors.scheduler import sacct
from iosonde.connectors.source import head_of
from iosonde.connectors.sources import connector_of
from iosonde.ingest.recognise import source_of
from iosonde.model.errors import InputFileError
from tests.kit.records.connected import take

TEXT = "JobID|User|State|Start|End\n" + "".join(
    f"{n}|ann|COMPLETED|2026-01-02T03:{n % 60:02}:00|2026-01-02T05:00:00\n" for n in range(1, 3000)
)


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: b"\xef\xbb\xbf" + data]
)
def test_packed_text_and_a_mark_of_the_alphabet_before_it(tmp_path, pack):
    path = tmp_path / "log"
    path.write_bytes(pack(TEXT.encode()))
    assert connector_of(path) is sacct
    out = take(sacct, path)
    assert (len(out.jobs), out.told, out.ended) == (2999, [], None)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_packed_text_that_is_cut_says_so(tmp_path, pack):
    path = tmp_path / "log"
    data = pack(TEXT.encode() * 6)
    path.write_bytes(data[: len(data) // 2])
    assert head_of(path).raw == data[: len(data) // 2][:65_536]
    assert "expected a whole" in (take(sacct, path).ended or "")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x28\xb5\x2f\xfdabc", "zstd -d"),
        (b"PK\x03\x04abc", "unzip"),
        (TEXT.encode("utf-16"), "iconv"),
        (b"", "is empty"),
        (bytes(100_000), "zero bytes"),
    ],
)
def test_what_cannot_be_read_says_what_it_is_and_what_to_try(tmp_path, data, word):
    path = tmp_path / "log"
    path.write_bytes(data)
    assert connector_of(path) is None
    with pytest.raises(InputFileError, match=word):
        source_of(path)


def test_an_archive_of_something_else(tmp_path):
    path = tmp_path / "logs.tgz"
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo("log")
        info.size = len(TEXT)
        tar.addfile(info, io.BytesIO(TEXT.encode()))
    with pytest.raises(InputFileError, match="tar xf"):
        source_of(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for look in (source_of, head_of):
        with pytest.raises(InputFileError, match="no regular file"):
            look(path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            "snapshot_time 1790000000.5 secs.nsecs\nread_bytes 1 samples [bytes] 1 1 1\n",
            "without -n",
        ),
        ("100|a|ann|phys|COMPLETED|2026-03-01T10:00:00\n", "sacct without -n: sacct -P"),
        ("             JOBID PARTITION     NAME     USER ST\n", "sacct -P"),
        ("#<----CPU[HYPER]-----><----------Disks----------->\n", "collectl -P"),
        ("Row,Timestamp,gpfs_fs_bytes_read\n", "without --csv"),
        ("# darshan log version: 2.06\n# exe: a\n", "Darshan 1 or 2.*with a row a job"),
        ("\n10.0.0.1:/e mounted on /mnt:\n", "mountstats"),
    ],
)
def test_what_is_nearly_something_says_what_to_ask_for(tmp_path, text, word):
    path = tmp_path / "log"
    path.write_text(text)
    assert connector_of(path) is None
    with pytest.raises(InputFileError, match=word):
        source_of(path)


def test_how_much_of_a_long_text_was_read(tmp_path):
    path = tmp_path / "log"
    path.write_text(TEXT.splitlines()[0] + "\n" + "\n".join(TEXT.splitlines()[1:] * 15) + "\n")
    told = []
    out = take(sacct, path, progress=lambda done, size: told.append((done, size)))
    assert len(out.jobs) == 2999
    size = path.stat().st_size
    assert [whole for _, whole in told] == [size] * 2
    assert 0 < told[0][0] < told[1][0] <= size
