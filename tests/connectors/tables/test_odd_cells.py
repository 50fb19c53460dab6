"""Cells that are no number or no time: the message says what they look like, what was expected, what to try."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.tables.unparsable_cells import ISO, about_number, about_time
from iosonde.model.errors import UsageError
from tests.kit.jobs.tables import HEAD, MAPPING, read, row, write


@pytest.mark.parametrize(
    ("cell", "looks"),
    [
        ("3,14", "decimal commas"),
        ("-0,5e-3", "decimal commas"),
        (",5", "decimal commas"),
        ("1.234,56", "decimal commas"),
        ("1,234", "decimal commas, or commas between thousands"),
        ("1,234,567", "commas between thousands"),
        ("1,234.5", "commas between thousands"),
        ("12 MiB/s", "numbers with their unit"),
        ("98%", "numbers with their unit"),
        ("fast", ""),
        ("3,14,15", ""),
    ],
)
def test_what_a_cell_looks_like(cell, looks):
    advice = about_number(cell)
    assert advice.looks.removeprefix("it looks like ") == looks
    assert advice.expected.startswith("numbers")


def semicolons(path, *cells):
    """A table of ``HEAD`` with these rates."""
    rows = (row(place, perf="PERF").replace(",", ";") for place in range(len(cells)))
    lines = [line.replace("PERF", cell) for line, cell in zip(rows, cells, strict=True)]
    return write(path, *lines, head=HEAD.replace(",", ";"))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (
            ("3,14", "2,5"),
            "holds no numbers (line 2: '3,14': it looks like decimal commas); "
            "expected numbers such as 3.14; try an export with decimal points",
        ),
        (
            ("", "fast", "slow"),
            "holds no numbers (line 3: 'fast'); expected numbers, and empty cells where one is missing",
        ),
    ],
)
def test_a_column_that_holds_no_numbers(tmp_path, cells, told):
    path = semicolons(tmp_path / "t.csv", *cells)
    with pytest.raises(UsageError) as error:
        read(path)
    assert f"jobs.toml: the column 'perf' of {path} {told}" in str(error.value)
    optional = MAPPING.replace('unit = "MiB/s" }', 'unit = "MiB/s", optional = true }')
    (table, (note,), _), _ = read(path, optional)
    assert "performance_bytes_per_s" not in table.metrics
    assert (note.flag, note.n) == ("not-a-number", len(cells))
    assert told.partition(";")[0].partition("(")[2] in note.what


def test_a_few_cells_with_a_comma_are_told(tmp_path):
    (table, (note,), _), _ = read(semicolons(tmp_path / "t.csv", "3", "4", "5", "6,5"))
    assert (note.flag, note.n) == ("not-a-number", 1)
    assert "first in line 5 (such as '6,5': it looks like decimal commas)" in note.what
    assert len(table) == 4


@pytest.mark.parametrize(
    ("unit", "cell", "told"),
    [
        ("text", "03/26/2026 07:00", f"expected {ISO}"),
        ("text", "26.03.2026 07:00", f"expected {ISO}"),
        ("s", "26.03.2026 07:00", f"expected {ISO}"),
        ("text", "1774508400", f'expected {ISO}; try unit = "s" in the mapping'),
        ("s", "2026-03-26 07:00:00", 'expected a number; try unit = "text" in the mapping'),
        ("s", "17", "expected a time from 1990 to 2100"),
        ("text", "1889-03-26T07:00:00Z", "expected a time from 1990 to 2100"),
        ("s", "", "expected a time from 1990 to 2100"),
    ],
)
def test_what_is_no_begin(tmp_path, unit, cell, told):
    mapping = MAPPING.replace('"start", unit = "s"', f'"start", unit = "{unit}"')
    good = "2026-03-26T07:00:00Z" if unit == "text" else 1_774_508_400
    path = write(tmp_path / "t.csv", row(0, start=good), row(1, start=cell))
    (table, _, _), (said,) = read(path, mapping)
    assert len(table) == 1
    assert said == f"{path}, line 3: {cell or 'nothing'!r} is no begin; {told}"


@given(st.text(max_size=90), st.booleans())
def test_any_cell_has_an_answer(cell, text):
    assert about_number(cell).expected
    assert about_time(cell, text=text).expected
