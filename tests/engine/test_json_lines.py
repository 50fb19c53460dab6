"""JSON lines of which some are broken: the good ones survive, the others are named by their line."""

import gzip

import pytest

from iosonde.engine.foreign.tables import as_text, columns_of

GOOD = b'{"job_id": "1", "speed": 1.5}\n{"job_id": "2", "speed": 2.5}\n'
BROKEN = {
    "half": b'"0", "speed": 1}\n',
    "array": b"[1, 2]\n",
    "word": b"begin of log\n",
    "brace": b'{"job_id": "0"\n',
    "blank": b"\n",
    "long": b'"' + b"x" * 40_000 + b"\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("how", BROKEN)
def test_lines_behind_a_broken_first_one_survive(tmp_path, how, packed):
    path, told = tmp_path / "jobs.jsonl", []
    data = BROKEN[how] + GOOD
    path.write_bytes(gzip.compress(data) if packed else data)
    with as_text(path, told.append) as text:
        assert text.read_text().splitlines() == ["job_id,speed", "1,1.5", "2,2.5"]
    assert columns_of(path) == ("job_id", "speed")
    assert [f"{path}, line 1" in str(error) for error in told] == [True] * (how != "blank")


def test_a_byte_order_mark_is_no_broken_line(tmp_path):
    path, told = tmp_path / "jobs.jsonl", []
    path.write_bytes(b"\xef\xbb\xbf" + GOOD)
    with as_text(path, told.append) as text:
        assert text.read_text().splitlines()[1:] == ["1,1.5", "2,2.5"]
    assert not told


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", 'a,b\n{"x": 1},3\n', "a\n{x}\n", "job\n1\n{}\n2\n", ""]
)
def test_a_table_stays_a_table(tmp_path, text):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with as_text(path) as same:
        assert same == path
