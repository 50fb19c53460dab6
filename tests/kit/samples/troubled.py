"""Stores in trouble, written once, for every door that speaks of it: sentence, table, JSON, report.

::

    SEVERAL   small reads 2.4x for an hour; within it reads 40x for 90 s, creates 3x for 10 min     one host
    FOUR      300 of 300 creates of one host time out                                               four hosts
    BUSY      8.0 h: reads wait for a CPU (the storage is as usual)                                 one host
              9.0 h: the same, and creates are 5x slower because of the storage
    CACHED    8.0 h: uncached reads wait for a CPU; 9.0 h: uncached reads 4x slower because of the  one host
              storage, while a busy host holds up those that a cache answers: more than half of all
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
"""A Monday, 00:00 UTC."""
HOUR, MINUTE = 3600, 60
OPS = ("data_read", "md_create", "md_read")

MILD = Trouble("md_read", 8 * HOUR, 9 * HOUR, 2.4)
HARD = Trouble("data_read", 8 * HOUR + 1200, 8 * HOUR + 1290, 40.0)
THIRD = Trouble("md_create", 8 * HOUR + 600, 8 * HOUR + 1200, 3.0)
SEVERAL = (MILD, HARD, THIRD)
SEVERAL_END = 10 * HOUR

GONE = Trouble("md_create", 8 * HOUR, 8 * HOUR + 300, float("inf"))
FOUR_END = 9 * HOUR
HOSTS = ("login0", "login1", "login2", "login3")
HUNG_HOST = "login3"

BUSY = Trouble("data_read", 8 * HOUR, 8 * HOUR + 1200, 4.0, queued=1.0)
BUSY_TENTH = Trouble("md_read", 8 * HOUR, 8 * HOUR + 1200, 60.0, share=0.15, queued=1.0)
BUSY_AGAIN = Trouble("data_read", 9 * HOUR, 9 * HOUR + 1200, 4.0, queued=1.0)
FAULT = Trouble("md_create", 9 * HOUR + 300, 9 * HOUR + 900, 5.0, queued=0.2)
UNCACHED = Trouble("data_read", 9 * HOUR + 1200, 9 * HOUR + 1800, 4.0, queued=0.1)
"""The storage is slow as soon as the host is no longer busy: the one does not excuse the other."""
BUSY_END = 10 * HOUR

CACHED_SHARE = 0.55
CACHED_BUSY = Trouble("data_read", 8 * HOUR, 8 * HOUR + 1200, 4.0, queued=1.0)
CACHED_SLOW = Trouble("data_read", 9 * HOUR, 9 * HOUR + 1200, 4.0, queued=0.1, hits=False)
CACHED_HELD_UP = Trouble("data_read", 9 * HOUR, 9 * HOUR + 1200, 2.5, queued=1.0, hits=True)


def at(seconds: float) -> int:
    """``seconds`` after the stores begin, ns."""
    return START + int(seconds * SECOND)


def several_ops(root: Path) -> Store:
    """Several operations slow at once: one mildly and long, one hard and short, one in between."""
    made(root, np.random.default_rng(21), START, SEVERAL_END, SEVERAL, ops=OPS)
    return Store(root)


def one_of_four(root: Path) -> Store:
    """Four hosts on one target; of ``HUNG_HOST`` no create comes back for five minutes."""
    rng = np.random.default_rng(22)
    for host in HOSTS:
        troubles = [GONE] if host == HUNG_HOST else []
        made(root, rng, START, FOUR_END, troubles, host=host, ops=("md_create", "md_stat"))
    return Store(root)


def busy_host(root: Path) -> Store:
    """A busy host without a fault, then with one."""
    troubles = [BUSY, BUSY_TENTH, BUSY_AGAIN, FAULT, UNCACHED]
    made(root, np.random.default_rng(23), START, BUSY_END, troubles, ops=OPS)
    return Store(root)


def cached_reads(root: Path) -> Store:
    """Reads whose median is a cache hit: a busy host, then a slow storage beside a busy host."""
    troubles = [CACHED_BUSY, CACHED_SLOW, CACHED_HELD_UP]
    rng = np.random.default_rng(24)
    made(root, rng, START, BUSY_END, troubles, ops=("data_read",), cached=CACHED_SHARE)
    return Store(root)
