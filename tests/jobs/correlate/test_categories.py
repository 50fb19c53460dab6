"""Categorical causes: text in expressions of mappings, and performance by compiler, queue and user."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iosonde.connectors.tables.expression import parse
from iosonde.jobs.correlate.correlate import correlate
from iosonde.jobs.correlate.words import say_category
from iosonde.jobs.table.derived import with_derived
from iosonde.stats.categories import difference
from tests.kit.commands import run
from tests.kit.jobs.tables import HEAD, MAPPING, read, row, write

TEXTS = (
    MAPPING
    + """
intel = { expression = 'compiler == "intel"', role = "cause", label = "Intel compiler" }
[categories]
compiler = "compiler"
queue = { column = "queue", values = { q1 = "short" } }
"""
)


def jobs(tmp_path, n=60, slower=0.7, missing=()):
    """Runs of two compilers in turn by chance, one slower; queues without an effect; a user each third."""
    rng = np.random.default_rng(3)
    rows = []
    for place in range(n):
        intel = rng.random() < 0.5
        compiler = "" if place in missing else "intel" if intel else "gnu"
        perf = (slower if intel else 1.0) * rng.uniform(90, 110)
        rows.append(f"{row(place, perf=perf)},{compiler},q{rng.integers(3)}")
    return write(tmp_path / "t.csv", *rows, head=HEAD + ",compiler,queue")


def found(tmp_path, mapping=TEXTS, **how):
    (table, _, _), told = read(jobs(tmp_path, **how), mapping)
    assert told == []
    return with_derived(table).table


def test_a_text_in_an_expression_is_a_number(tmp_path):
    table = found(tmp_path, missing=(0, 5))
    compiler = table.categories["compiler"]
    assert np.isnan(table.metrics["intel"][[0, 5]]).all()
    known = compiler != ""
    assert (table.metrics["intel"][known] == (compiler[known] == "intel")).all()
    assert table.about("intel").role == "cause"
    assert table.take(slice(3)).categories["compiler"].tolist() == compiler[:3].tolist()


def test_texts_keep_rows_and_part_motifs(tmp_path):
    mapping = MAPPING.replace(
        "[metrics]",
        """[[motif]]
when = 'queue != "q1"'
then = "long"
else = "short"

[[filters]]
keep = "compiler == 'gnu'"

[metrics]""",
    )
    table = found(tmp_path, mapping)
    assert 0 < len(table) < 60
    assert {motif.split()[2] for motif in table.motif} == {"long", "short"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"intel"', "is a text, of which only NAME == "),
        ('compiler < "intel"', "is a text, of which only NAME == "),
        ('2 == "intel"', "'\"intel\"' is not expected|expected a name"),
        ('a + "b"', "is a text"),
    ],
)
def test_texts_are_compared_and_nothing_else(text, says):
    with pytest.raises(ValueError, match=says):
        parse(text)


def test_a_column_that_is_not_there_is_named(tmp_path, capsys):
    path = jobs(tmp_path)
    (tmp_path / "m.toml").write_text(TEXTS.replace('compiler == "intel"', 'vendor == "intel"'))
    assert run("correlate", str(path), "--mapping", str(tmp_path / "m.toml")) == 2
    assert "[metrics] intel" in capsys.readouterr().err


def test_a_planted_category_is_claimed_and_no_other(tmp_path):
    of = correlate(found(tmp_path))
    effects = {one.category: one for one in of.categories}
    assert set(effects) == {"compiler", "queue"}
    compiler, queue = effects["compiler"], effects["queue"]
    assert [level.name for level in compiler.levels] == ["gnu", "intel"]
    assert compiler.levels[0].median / compiler.levels[1].median == pytest.approx(1 / 0.7, rel=0.1)
    assert compiler.n == sum(level.n for level in compiler.levels) == 60
    assert compiler.q <= 0.05 < queue.q
    assert compiler.p <= compiler.q
    assert {level.name for level in queue.levels} == {"q0", "short", "q2"}
    assert say_category(compiler).startswith("compiler: gnu 1.39x")
    assert "claimed" in say_category(compiler)
    assert "claimed" not in say_category(queue)


def test_the_command_says_it(tmp_path, capsys):
    path = jobs(tmp_path)
    (tmp_path / "m.toml").write_text(TEXTS)
    asked = ["correlate", str(path), "--mapping", str(tmp_path / "m.toml")]
    assert run(*asked) == 0
    assert "compiler: gnu 1.39x" in capsys.readouterr().out
    assert run(*asked, "--format", "json") == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert {one["category"] for one in table["categories"]} == {"compiler", "queue"}


def walk(rng, n, phi):
    """An autoregressive series."""
    values = np.zeros(n)
    for place in range(1, n):
        values[place] = phi * values[place - 1] + rng.normal()
    return values


@pytest.mark.parametrize("how", ["by chance", "one stretch after the other"])
def test_categories_without_an_effect_are_seldom_claimed(how):
    """Performance that remembers (phi = 0.7), and an upgrade of the compiler in the middle."""
    rng = np.random.default_rng(8)
    claimed, n, tries = 0, 90, 200
    for _ in range(tries):
        codes = rng.integers(0, 3, n)
        codes = codes if how == "by chance" else np.sort(codes)
        claimed += difference(walk(rng, n, 0.7), codes).p <= 0.05
    assert claimed / tries <= 0.09  # 0.05 and 2.5 standard errors


def test_shares_and_what_cannot_be_compared():
    values = np.arange(20.0)
    whole = difference(values, (values >= 10).astype(np.int64))
    assert whole.share == pytest.approx(0.75, abs=0.02)
    assert difference(np.ones(20), np.arange(20) % 2) == (0.0, 1.0)
    assert np.isnan(difference(values, np.zeros(20, dtype=np.int64)).p)
