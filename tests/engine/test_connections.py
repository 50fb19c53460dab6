"""Engines that are used again: one connection leaves nothing to the next."""

import os
import signal
import threading

import duckdb
import numpy as np
import pytest

from iosonde.engine.connections import connect
from iosonde.engine.stopping import interruptible


def setting(con, name):
    return con.execute(f"SELECT current_setting('{name}')").fetchall()[0][0]


def test_tables_views_and_settings_end_with_a_connection():
    con = connect(threads=1)
    usual = [setting(con, name) for name in ("memory_limit", "preserve_insertion_order")]
    con.execute("CREATE TEMP TABLE mine AS SELECT range AS x FROM range(10)")
    con.execute("CREATE TEMP VIEW seen AS SELECT * FROM mine")
    con.register("given", {"x": np.arange(3)})
    con.execute("SET memory_limit = '64MiB'; SET preserve_insertion_order = true")
    del con
    again = connect(threads=1)
    for name in ("mine", "seen", "given"):
        with pytest.raises(duckdb.CatalogException):
            again.execute(f"SELECT * FROM {name}")
    assert [setting(again, name) for name in ("memory_limit", "preserve_insertion_order")] == usual
    assert setting(again, "threads") == 1


def test_an_engine_that_nobody_uses_is_used_again_and_no_other():
    first, second = connect(threads=3), connect(threads=3)
    first.execute("SET preserve_insertion_order = true")
    assert setting(first, "preserve_insertion_order")
    assert not setting(second, "preserve_insertion_order")
    used = mark(first)
    del first
    third = connect(threads=3)
    assert mark(third) == used != mark(second)


def mark(con):
    """What tells engines apart: a table in the schema that all connections of an engine share."""
    if not con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'which'"
    ).fetchone()[0]:
        con.execute("CREATE TABLE which AS SELECT uuid() AS id")
    return con.execute("SELECT id FROM which").fetchall()


def test_a_question_that_fails_gives_its_engine_back_whole():
    con = connect(threads=2)
    con.execute("BEGIN TRANSACTION")
    con.execute("CREATE TEMP TABLE half AS SELECT 1 AS x")
    with pytest.raises(duckdb.Error):
        con.execute("SELECT error('no')").fetchall()
    del con
    assert connect(threads=2).execute("SELECT 1").fetchall() == [(1,)]


def test_many_threads_at_once():
    sums, errors = [], []

    def ask(k):
        try:
            for _ in range(20):
                con = connect(threads=1)
                con.execute(f"CREATE TEMP TABLE t AS SELECT range * {k} AS x FROM range(1000)")
                sums.append(con.execute("SELECT sum(x) FROM t").fetchall()[0][0] == 499_500 * k)
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    assert sums == [True] * 160


def test_a_fork_has_engines_of_its_own():
    held = connect(threads=2)
    held.execute("SELECT 1")
    del held
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        found = b"no"
        try:
            con = connect(threads=2)
            found = str(
                con.execute("SELECT sum(range) FROM range(100000)").fetchall()[0][0]
            ).encode()
        finally:
            os.write(write, found)
            os._exit(0)
    os.close(write)
    assert os.read(read, 100) == b"4999950000"
    os.close(read)
    os.waitpid(child, 0)
    assert connect(threads=2).execute("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_during_a_statement_is_a_ctrl_c():
    for _ in range(6):  # whichever thread of the engine works on it
        _ctrl_c()


def _ctrl_c():
    con = connect()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # One that comes before the statement is Python's own, and a Ctrl-C, too.
    pressing = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    pressing.start()
    try:
        with pytest.raises(KeyboardInterrupt), interruptible():
            con.execute("SELECT sum(sqrt(range)) FROM range(1000000000000000)").fetchone()
    finally:
        pressing.join()
        signal.signal(signal.SIGINT, before)


def test_another_error_is_no_ctrl_c():
    with pytest.raises(RuntimeError, match="another"), interruptible():
        raise RuntimeError("another")
