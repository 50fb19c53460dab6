"""TimeSeries and h5lmt: every trap of theirs has a file here that triggers it."""

from __future__ import annotations

import random

import h5py
import numpy as np
import pytest

from iosonde.connectors.lustre import h5lmt, hdf5_steps, tokio_timeseries
from iosonde.connectors.source import head_of
from iosonde.model.errors import InputFileError
from tests.kit.records.lmt_files import Got, lying, series

T0 = 1517126400
OSTS = ["work-OST0000", "work-OST0001"]
READ = "datatargets/readbytes"


def stamps(n, step=5):
    return [T0 + step * i for i in range(n)]


def times(block):
    return [t // 10**9 - T0 for t in block.time_ns.tolist()]


def test_negative_zero_is_missing_and_zero_is_not(tmp_path):
    path = series(
        tmp_path / "t", stamps(3), {READ: (OSTS, [[-0.0, 0], [5, -0.0], [np.nan, 7]], "bytes")}
    )
    assert tokio_timeseries.recognises(head_of(path))
    assert not h5lmt.recognises(head_of(path))
    block = Got(tokio_timeseries, path).one("ost", "read_bytes")
    assert np.isnan(block.value).tolist() == [[True, False], [False, True], [True, False]]
    assert {(n.flag, n.n) for n in block.notes} == {("negative-zero", 2), ("missing", 1)}
    assert (block.system, block.components) == ("work", tuple(OSTS))


@pytest.mark.parametrize(
    ("name", "units", "values", "expected", "doubt"),
    [
        ("readbytes", "bytes", [10, 20], [10, 20], False),
        ("readbytes", "bytes/sec", [10, 20], [10, 20], True),  # pytokio's own slip: whole, so bytes
        ("readbytes", "bytes/sec", [10.2, 20], [51, 100], True),  # none of bytes: rates
        ("readrates", "bytes/sec", [10.2, 20], [51, 100], False),
        ("readrates", "bytes", [10.2, 20], [51, 100], True),
        ("writebytes", "KiB", [1, 2], [1024, 2048], False),
        ("readoprates", "ops/sec", [0.2, 0], [1, 0], False),
    ],
)
def test_units_that_lie(tmp_path, name, units, values, expected, doubt):
    path = series(
        tmp_path / "t", stamps(2), {f"datatargets/{name}": (OSTS[:1], [[v] for v in values], units)}
    )
    (block,) = Got(tokio_timeseries, path).blocks
    assert block.value[:, 0].tolist() == expected
    assert ("wrong-unit" in {note.flag for note in block.notes}) == doubt
    assert block.unit in ("bytes", "operations")


@pytest.mark.parametrize(("units", "doubt"), [("KiB", False), ("bytes", True), ("", True)])
def test_fullness_that_leaves_a_thousand_bytes_a_file_is_in_kib(tmp_path, units, doubt):
    tables = {
        "fullness/bytes": (OSTS, [[5e10, 6e10]], units),
        "fullness/bytestotal": (OSTS, [[9e10, 9e10]], units),
        "fullness/inodestotal": (OSTS, [[8.8e7, 8.8e7]], "inodes"),
    }
    got = Got(tokio_timeseries, series(tmp_path / "t", stamps(1), tables))
    assert got.one("ost", "total_bytes").value.tolist() == [[9e10 * 1024] * 2]
    assert ("wrong-unit" in got.flags()) == doubt
    assert got.one("ost", "total_bytes").step_ns.tolist() == [0]


def test_steps_that_are_missing_make_no_bin_longer(tmp_path):
    at = [T0, T0 + 5, T0 + 10, T0 + 30, T0 + 35]
    block = Got(
        tokio_timeseries, series(tmp_path / "t", at, {READ: (OSTS[:1], [[1]] * 5, "bytes")})
    ).blocks[0]
    assert times(block) == [0, 5, 10, 30, 35]
    assert block.step_ns.tolist() == [5 * 10**9] * 5


def test_time_stamps_out_of_order_twice_and_never_set(tmp_path):
    at = [T0 + 10, T0, T0 + 5, T0 + 5, 0]
    path = series(tmp_path / "t", at, {READ: (OSTS[:1], [[3], [1], [2], [99], [98]], "bytes")})
    got = Got(tokio_timeseries, path)
    assert times(got.blocks[0]) == [0, 5, 10]
    assert got.blocks[0].value[:, 0].tolist() == [1, 2, 3]
    assert {"out-of-order", "duplicate"} <= got.flags()
    assert "1 time stamps are no times" in str(got.told[0])


def test_infinite_and_negative_values_are_missing(tmp_path):
    path = series(tmp_path / "t", stamps(3), {READ: (OSTS[:1], [[np.inf], [-3], [1]], "bytes")})
    got = Got(tokio_timeseries, path)
    assert np.isnan(got.blocks[0].value[:, 0]).tolist() == [True, True, False]
    assert got.flags() == {"not-a-number"}


def test_slices_of_time_are_the_whole(tmp_path, monkeypatch):
    values = np.arange(40.0).reshape(20, 2)
    path = series(tmp_path / "t", stamps(20), {READ: (OSTS, values, "bytes")})
    monkeypatch.setattr(hdf5_steps, "BLOCK_VALUES", 6)
    blocks = Got(tokio_timeseries, path).blocks
    assert [b.value.size for b in blocks] == [6] * 6 + [4]
    assert np.array_equal(np.concatenate([b.value for b in blocks]), values)
    assert (np.concatenate([b.step_ns for b in blocks]) == 5 * 10**9).all()


def test_columns_and_rows_that_do_not_fit_are_told_of(tmp_path):
    path = series(tmp_path / "t", stamps(3), {READ: (OSTS, np.ones((3, 3)), "bytes")})
    with h5py.File(path, "a") as file:
        file["datatargets/writebytes"] = np.ones((2, 1))
        file["datatargets/writebytes"].attrs["columns"] = np.array([b"work-OST0000"])
        file["datatargets/readops"] = np.ones((3, 1))
        file["mdtargets/opens"] = np.ones((3, 1))
    got = Got(tokio_timeseries, path)
    told = "\n".join(str(error) for error in got.told)
    for words in (
        "1 columns have no name",
        "2 rows, fewer than",
        "0 names for 1 columns",
        "no time stamps",
    ):
        assert words in told
    assert got.one("ost", "read_bytes").value.shape == (3, 2)
    assert got.one("ost", "written_bytes").value.shape == (2, 1)


def test_links_and_sizes_that_cannot_be_meant(tmp_path):
    other = series(tmp_path / "o", stamps(2), {READ: (OSTS[:1], [[1], [2]], "bytes")})
    path = series(tmp_path / "t", stamps(2), {"mdtargets/opens": (["m"], [[1], [2]], "ops")})
    with h5py.File(path, "a") as file:
        file["datatargets"] = h5py.ExternalLink(str(other), "datatargets")
        file["mdtargets/closes"] = h5py.SoftLink("/mdtargets/opens")
        file["mdtargets"].create_dataset(
            "links", shape=(2_000_000_000, 5), chunks=(1000, 5), dtype="f8"
        )
        big = file["mdtargets"].create_dataset(
            "mkdirs", shape=(60_000_000, 1), chunks=(60_000_000, 1), dtype="f8"
        )
        assert big.id.get_storage_size() == 0
        file["mdtargets/rmdirs"] = np.array([[b"a"], [b"b"]])
    got = Got(tokio_timeseries, path)
    assert [b.metric for b in got.blocks] == ["opens"]
    told = "\n".join(str(error) for error in got.told)
    for words in ("is a link", "claims", "has shape"):
        assert words in told


def h5(tmp_path, read, missing=None, more=None, at=None, iosize=None):
    tables = {h5lmt._READ: ({"OSTNames": OSTS}, read), **(more or {})}
    if missing is not None:
        tables[h5lmt._MISSING] = ({}, np.array(missing, dtype=np.int32))
    return lying(tmp_path / "h", at or stamps(np.shape(read)[1]), tables)


def test_rates_lie_at_the_end_of_their_steps(tmp_path):
    path = h5(tmp_path, [[0, 0.2, 4.0], [0, 1 / 5, 2.0]])
    assert h5lmt.recognises(head_of(path))
    assert not tokio_timeseries.recognises(head_of(path))
    block = Got(h5lmt, path).one("ost", "read_bytes")
    assert block.value.tolist() == [[1, 1], [20, 10]]
    assert times(block) == [0, 5]


def test_or_at_their_begin_in_files_of_later_make(tmp_path):
    cpu = {h5lmt._OSS: ({"OSSNames": ["a"]}, [[50.0, 60.0, 0.0]])}
    got = Got(h5lmt, h5(tmp_path, [[0.2, 4.0, 0], [0, 2.0, 0]], more=cpu))
    assert got.one("ost", "read_bytes").value.tolist() == [[1, 0], [20, 10]]
    assert got.one("oss", "cpu_percent").value[:, 0].tolist() == [50, 60]


def test_what_is_marked_missing_is_missing(tmp_path):
    rates = [[0, 1.0, 2.0, 3.0], [0, 1.0, 2.0, 3.0]]
    cpu = {h5lmt._OSS: ({"OSSNames": ["a", "b"]}, [[1.0, 2.0, 3.0, 4.0]] * 2)}
    got = Got(h5lmt, h5(tmp_path, rates, [[0, 0, 0, 0], [0, 1, 0, 0]], cpu))
    # Behind the gap a rate was measured for its own step.
    assert got.one("ost", "read_bytes").value[:, 0].tolist() == [5, 10, 15]
    np.testing.assert_array_equal(got.one("ost", "read_bytes").value[:, 1], [np.nan, 10, 15])
    assert np.isnan(got.one("oss", "cpu_percent").value).tolist() == [
        [False, i == 1] for i in range(4)
    ]
    assert got.flags() == {"missing"}
    odd = Got(h5lmt, h5(tmp_path, rates, [[0, 1, 0, 0]] * 3)).one("ost", "read_bytes")
    assert np.isnan(odd.value).all(axis=1).tolist() == [True, False, False]


def test_a_zero_behind_a_gap_is_no_measured_zero(tmp_path):
    rates = [[0, 0, 0, 3.0, 0]] * 2
    block = Got(h5lmt, h5(tmp_path, rates, [[0, 1, 0, 0, 0]] * 2)).one("ost", "read_bytes")
    np.testing.assert_array_equal(block.value[:, 0], [np.nan, np.nan, 15, 0])


def test_a_step_that_is_longer_counts_as_long_as_it_was(tmp_path):
    block = Got(h5lmt, h5(tmp_path, [[0, 2.0, 3.0]] * 2, at=[T0, T0 + 5, T0 + 15])).blocks[0]
    assert block.value[:, 0].tolist() == [10, 30]
    assert block.step_ns.tolist() == [5 * 10**9, 10 * 10**9]


def test_sizes_of_operations_are_optional_and_counted(tmp_path):
    sizes = np.zeros((2, 9, 3))
    sizes[0, :, 1] = 0.2
    more = {h5lmt._SIZES[0]: ({"OSTNames": OSTS}, sizes)}
    read = [[0, 1.0, 0.0], [0, 0.0, 0.0]]
    block = Got(h5lmt, h5(tmp_path, read, more=more)).one("ost", "read_ops")
    assert block.value.tolist() == [[9, 0], [0, 0]]
    assert block.notes[0].flag == "estimated"


def test_histograms_that_stayed_empty_count_no_operations(tmp_path):
    read = [[0, 5.0, 5.0, 0.0], [0, 5.0, 0.0, 5.0]]
    sizes = np.zeros((2, 9, 4))
    sizes[1, 3] = [0, 0.4, 0, 0]  # a histogram that lives, but misses the last step
    more = {h5lmt._SIZES[0]: ({"OSTNames": OSTS}, sizes)}
    block = Got(h5lmt, h5(tmp_path, read, more=more)).one("ost", "read_ops")
    np.testing.assert_array_equal(block.value[:, 0], [np.nan] * 3)  # dead
    np.testing.assert_array_equal(block.value[:, 1], [2, 0, np.nan])
    assert {note.flag for note in block.notes} == {"estimated", "missing", "monitor-down"}


def test_histograms_of_targets_at_rest_are_zero(tmp_path):
    more = {h5lmt._SIZES[0]: ({"OSTNames": OSTS}, np.zeros((2, 9, 3)))}
    block = Got(h5lmt, h5(tmp_path, [[0] * 3] * 2, more=more)).one("ost", "read_ops")
    assert block.value.tolist() == [[0, 0], [0, 0]]


def test_operations_nobody_recorded_are_not_zeros(tmp_path):
    ops = {
        h5lmt._OPS: (
            {"OpNames": ["open", "mkdir", "setxattr", "ping"]},
            [[0, 1.0, 2.0], [0] * 3, [0] * 3, [1] * 3],
        )
    }
    got = Got(h5lmt, h5(tmp_path, [[0, 1.0, 1.0]] * 2, more=ops))
    assert [b.metric for b in got.blocks if b.level == "mdt"] == ["opens", "mkdirs"]
    assert got.one("mdt", "opens").value[:, 0].tolist() == [5, 10]


@pytest.mark.parametrize("connector", [tokio_timeseries, h5lmt])
def test_damaged_files_end_in_a_message(tmp_path, connector):
    rng = random.Random(6)
    good = series(
        tmp_path / "t",
        stamps(5),
        {READ: (OSTS, np.ones((5, 2)), "bytes"), "mdtargets/opens": (["m"], np.ones((5, 1)), "")},
    )
    if connector is h5lmt:
        good = h5(tmp_path, np.ones((2, 5)), np.zeros((2, 5)))
    whole = good.read_bytes()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 30)):
            data[rng.randrange(8, len(data))] = rng.randrange(256)
        bad = tmp_path / "bad"
        bad.write_bytes(bytes(data[: rng.choice([len(data), rng.randrange(9, len(data))])]))
        connector.recognises(head_of(bad))
        try:
            blocks = Got(connector, bad).blocks
        except InputFileError as error:
            told = str(error)
        else:
            told = str(bad)
            assert not any((block.value < 0).any() for block in blocks)
        assert str(bad) in told
