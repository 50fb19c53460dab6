from __future__ import annotations

import inspect

import numpy as np
import pytest

from iosonde.model import errors, ops
from iosonde.model.frames import Frame, SeriesKey


def test_the_drawn_tree_is_the_tree():
    classes = {
        name: cls
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.IosondeError)
    }
    drawn: dict[int, str] = {}
    seen = set()
    for line in (errors.__doc__ or "").splitlines():
        name = line.strip(" │├└─").split(" ")[0]
        if name in classes:
            depth = line.index(name)
            drawn[depth] = name
            parents = [drawn[d] for d in sorted(drawn) if d < depth]
            if parents:
                assert classes[name].__bases__ == (classes[parents[-1]],), name
            drawn = {d: n for d, n in drawn.items() if d <= depth}
            seen.add(name)
    assert seen == set(classes)


def test_an_error_says_what_was_expected_and_what_to_try():
    error = errors.UsageError("a", expected="b", hint="c")
    assert (str(error), error.exit_code) == ("a; expected b; try c", 2)
    assert str(errors.IosondeError("a")) == "a"


@pytest.mark.parametrize("text", ["md_create", "creates", "create", "CREATES"])
def test_ops_by_name_or_word(text):
    assert ops.parse_op(text) == "md_create"


def test_an_unknown_op_gets_a_suggestion():
    with pytest.raises(errors.UsageError, match="try 'md_create'"):
        ops.parse_op("md_crate")


def test_unknown_ops_come_last_and_keep_their_name():
    assert sorted(["x", "md_stat", "data_read"], key=ops.op_order) == ["data_read", "md_stat", "x"]
    assert ops.op_word("x") == "x"


def test_series_are_runs_of_equal_keys():
    frame = Frame(
        {
            "host": np.array(["a", "a", "b"], dtype=object),
            "target": np.array(["/t"] * 3, dtype=object),
            "op": np.array(["md_stat"] * 3, dtype=object),
            "period_ns": np.array([1, 2, 2]),
        }
    )
    assert list(frame.series()) == [
        (SeriesKey("a", "/t", "md_stat", 1), slice(0, 1)),
        (SeriesKey("a", "/t", "md_stat", 2), slice(1, 2)),
        (SeriesKey("b", "/t", "md_stat", 2), slice(2, 3)),
    ]
    assert list(frame.take(slice(0)).series()) == []
    assert list(Frame({}).series()) == []


def test_columns_are_of_one_length():
    with pytest.raises(ValueError, match="different lengths"):
        Frame({"a": np.arange(2), "b": np.arange(3)})
