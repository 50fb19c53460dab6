"""The one-liners of the documentation run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from iosonde.model.ops import OPS
from iosonde.weather.seal import seal
from tests.kit.samples.makers import simulated

PAGE = (Path(__file__).parents[2] / "docs" / "reading-the-data.md").read_text()


def snippets(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    simulated(tmp_path, 120)
    seal(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
def test_the_sql_runs():
    (sql,) = snippets("sql")
    found = duckdb.sql(sql).fetchall()
    assert sorted(op for _, op, _, _ in found) == sorted(OPS)
    assert {n for _, _, _, n in found} == {120}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("module", "reader"), [("polars", "polars"), ("pandas", "pyarrow")])
def test_the_python_runs(module, reader):
    pytest.importorskip(module)
    pytest.importorskip(reader)
    (code,) = [code for code in snippets("python") if f"import {module}" in code]
    exec(compile(code, module, "exec"), {})
