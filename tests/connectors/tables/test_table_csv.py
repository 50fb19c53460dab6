"""Text tables: delimiters, quotes, ragged rows, what is no number, and files that are no tables at all."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.tables import csv_text as table_csv
from iosonde.connectors.tables.csv_text import read_columns
from iosonde.connectors.tables.records import header_of
from iosonde.model.errors import InputFileError


def columns(path, *texts, delimiter=None):
    told = []
    found = read_columns(path, texts, lambda e: told.append(str(e)), delimiter=delimiter)
    return found, told


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " ", "  "])
def test_the_delimiter_is_recognised(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(mark.join(["name", "x", "y"]) + "\n" + mark.join(["one", "1", "2.5e3"]) + "\n")
    found, told = columns(path, "name")
    assert found.names == ("name", "x", "y")
    assert found.numbers["y"].tolist() == [2500.0]
    assert found.texts["name"].tolist() == ["one"]
    assert told == []


def test_a_given_delimiter_wins(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b:c\n1,2:3\n")
    assert columns(path, delimiter=":")[0].names == ("a,b", "c")


def test_quotes_hold_delimiters_quotes_and_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfname,x\r\n"a, ""b""\nsecond line",1\r\nplain,2\r\n')
    found, told = columns(path, "name")
    assert found.texts["name"].tolist() == ['a, "b"\nsecond line', "plain"]
    assert found.line.tolist() == [2, 4]
    assert told == []


def test_a_quote_without_an_end_costs_its_line_only(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"r{i},{i}" for i in range(40)]
    path.write_text("\n".join(["name,x", 'bad "quote,1', *rows]) + "\n")
    found, told = columns(path, "name")
    assert len(found) == 40
    assert told == [f"{path}, line 2: a quote does not end; expected a second quote behind it"]


def test_ragged_rows_are_told_of_with_their_line_and_others_stay(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n\n4,5,6\n7,8\n")
    found, told = columns(path)
    assert found.numbers["a"].tolist() == [1, 7]
    assert [text.split(": ")[0].rsplit(" ", 1)[1] for text in told] == ["3", "5"]
    assert "1 fields; expected 2, as in the header" in told[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n0,1,2\n1,3,4\n", ("column_1", "a", "b")),
        ("a,b\n1,2,\n3,4,\n", ("a", "b", "column_3")),
    ],
)
def test_a_nameless_column_before_or_behind_is_not_taken_for_ragged_rows(tmp_path, text, names):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found, told = columns(path)
    assert found.names == names
    assert (found.numbers["a"] == [1, 3]).all()
    assert told == []


def test_names_that_occur_twice_or_are_blank_are_told_apart(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",x,x, y \n1,2,3,4\n")
    assert columns(path)[0].names == ("column_1", "x", "x_2", "y")


def test_what_is_no_number_is_missing_with_its_place(tmp_path):
    path = tmp_path / "t.csv"
    cells = ["1", "nan", "NA", "", "inf", "-Infinity", "-0.0", "1e999", "1_000", "0x10", "n/a", "2"]
    path.write_text("k,x\n" + "\n".join(f"k,{cell}" for cell in cells) + "\n")
    found, _ = columns(path)
    assert np.flatnonzero(~np.isnan(found.numbers["x"])).tolist() == [0, 11]
    assert sorted(found.odd["x"]) == [
        *((place, "not-a-number") for place in (4, 5)),
        (6, "negative-zero"),
        *((place, "not-a-number") for place in (7, 8, 9)),
    ]
    assert {(note.flag, note.n) for note in found.notes} == {
        ("not-a-number", 5),
        ("negative-zero", 1),
    }
    assert "column x, first in line 6" in found.notes[0].what
    assert "k" not in found.numbers, "words are no numbers"


@pytest.mark.parametrize("data", [b"", b"\n\n \n"])
def test_an_empty_file_says_what_was_expected(tmp_path, data):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(InputFileError, match="the file is empty; expected a line with the names"):
        columns(path)
    assert header_of(path) == ()


def test_a_header_that_cannot_be_read_is_not_replaced_by_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,"b\n' + "1,2\n" * 30)
    for look in (columns, header_of):
        with pytest.raises(InputFileError, match="line 1: a quote does not end"):
            look(path)


def test_rows_before_the_end_of_broken_gzip_survive(tmp_path):
    path = tmp_path / "t.csv.gz"
    rng = np.random.default_rng(1)
    rows = [f"{rng.random()},{rng.random()}" for _ in range(5000)]
    packed = gzip.compress("\n".join(["a,b", *rows]).encode())
    path.write_bytes(packed[: len(packed) // 2])
    found, told = columns(path)
    assert 100 < len(found) < 5000
    assert "the gzip data end or break here" in told[-1]


def test_no_more_cells_are_held_than_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(table_csv, "MOST_VALUES", 20)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 30)
    found, told = columns(path)
    assert len(found) == 10
    assert told == [
        f"{path}, line 12: the table is too long: skipping the rest; expected at most 20 cells"
    ]
    monkeypatch.setattr(table_csv, "MOST_COLUMNS", 1)
    with pytest.raises(InputFileError, match="there are 2 columns"):
        columns(path)


@given(data=st.binary(max_size=400), packed=st.booleans())
def test_junk_is_told_of_and_never_a_traceback(tmp_path_factory, data, packed):
    path = tmp_path_factory.mktemp("junk") / "t.csv"
    path.write_bytes((b"\x1f\x8b" if packed else b"a,b\n") + data)
    try:
        found, _ = columns(path, "a")
    except InputFileError:
        return
    assert all(len(column) == len(found) for column in found.numbers.values())
    assert not any(np.isinf(column).any() for column in found.numbers.values())


_FIELD = st.text(
    st.characters(
        codec="utf-8", exclude_characters="\r\n\x00\x85", exclude_categories=["Cs", "Cc"]
    ),
    max_size=8,
)


@given(
    rows=st.lists(st.tuples(_FIELD, st.floats(allow_nan=False, allow_infinity=False)), max_size=20)
)
def test_what_a_writer_of_csv_wrote_is_read_back(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("written") / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("name", "x"), *rows])
    found, told = columns(path, "name")
    assert told == []
    words = ["" if w.strip().lower() in table_csv.MISSING else w.strip() for w, _ in rows]
    assert found.texts["name"].tolist() == words
    wanted = [np.nan if x == 0 and np.signbit(x) else x for _, x in rows]
    assert np.array_equal(found.numbers.get("x", np.array(wanted)), wanted, equal_nan=True)
