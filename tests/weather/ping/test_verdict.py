"""Verdicts of a ping on made durations of several shapes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from iosonde.model.units import format_duration
from iosonde.weather.ping import words
from iosonde.weather.ping.child import Away, Ended, Listing
from iosonde.weather.ping.typical import rows
from iosonde.weather.ping.verdict import PING_OPS, PingResult, exit_code, judge, result, timed

ROOT = Path(__file__).resolve().parents[3]
MS = 1_000_000
US = 1_000


def ended(op: str, took_ns: np.ndarray, waited: float = 0.0) -> list[Ended]:
    return [Ended(op, int(ns), 1, 0, int(waited * ns)) for ns in took_ns]


def verdict(
    made: list[Ended], kind: str = "ext4", away: Away | None = None, **usual_ns: float
) -> PingResult:
    return result(("/work", kind, None, None), made, usual_ns, away)


SHAPES = {
    "lognormal": lambda rng, n: rng.lognormal(0.0, 0.7, n),
    "pareto": lambda rng, n: 1 + rng.pareto(1.3, n),
    "bimodal": lambda rng, n: np.where(rng.random(n) < 0.35, 30.0, 1.0) * rng.lognormal(0, 0.2, n),
    "autocorrelated": lambda rng, n: np.exp(np.cumsum(rng.normal(0, 0.05, n))),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_slowdown_against_the_usual_is_found_and_health_is_not_called_slow(shape: str) -> None:
    """Each draw is compared with the median of its own distribution, as a learned baseline is."""
    rng = np.random.default_rng(7)
    draw = SHAPES[shape]
    usual = MS * float(np.median(np.concatenate([draw(rng, 40) for _ in range(500)])))
    kinds = {
        factor: [
            verdict(ended("md_create", factor * MS * draw(rng, 40)), md_create=usual).verdict.kind
            for _ in range(200)
        ]
        for factor in (1.0, 5.0)
    }
    assert kinds[1.0].count("slow") <= 4, shape
    assert kinds[5.0].count("slow") >= (150 if shape == "autocorrelated" else 190), shape


def test_a_busy_host_is_not_blamed_on_storage() -> None:
    slow = np.full(40, 50 * MS)
    assert verdict(ended("md_stat", slow, waited=0.1), md_stat=MS).verdict.kind == "slow"
    busy = verdict(ended("md_stat", slow, waited=0.9), md_stat=MS)
    assert busy.verdict.kind == "host_busy"
    assert exit_code(busy.verdict) == 0
    assert words.say(busy).startswith("this host is busy: slow operations waited 90%")


def test_far_above_usual_is_never_said_to_be_as_usual() -> None:
    few = verdict(ended("md_create", np.full(3, 23 * MS)), md_create=MS)
    assert (few.verdict.kind, words.say(few)) == (
        "usual",
        "/work answers: creates took 23x their usual time, 3 are too few to call them slow",
    )
    spread = np.concatenate([np.full(19, MS), np.full(21, 4 * MS)])
    unsure = verdict(ended("md_create", spread), md_create=MS)
    assert words.say(unsure) == (
        "/work answers: creates took 4.0x their usual time, too uncertain to be called slow"
    )
    queued = verdict(ended("md_create", np.full(3, 23 * MS), waited=0.9), md_create=MS)
    assert words.say(queued).endswith("90% of it was waiting for a CPU of this host")


def test_without_a_store_the_kind_of_file_system_says_what_is_typical() -> None:
    found = verdict(ended("md_create", np.full(40, 700 * US)))
    assert found.verdict.kind == "typical"
    assert words.say(found) == "/work answers as a local file system (ext4) should: creates 700 us"
    # The same on NFS takes 20 ms at most, slow from three times that on.
    assert verdict(ended("md_create", np.full(40, 59 * MS)), "nfs").verdict.kind == "typical"
    slow = verdict(ended("md_create", np.full(40, 80 * MS)), "nfs4")
    assert (
        words.say(slow)
        == "creates on /work take 80.0 ms, 4.0x the most that is typical of NFS (nfs4)"
    )
    assert exit_code(slow.verdict) == 1
    unknown = verdict(ended("md_create", np.full(40, 80 * MS)), "fuse.sshfs")
    assert (unknown.verdict.kind, exit_code(unknown.verdict)) == ("unknown", 3)


def test_few_operations_are_never_slow() -> None:
    for n in range(1, 6):
        assert (
            verdict(ended("md_create", np.full(n, 800 * MS)), md_create=MS).verdict.kind != "slow"
        )


def test_stalls_count_when_there_are_several_or_one_is_long() -> None:
    calm = np.full(40, 3 * MS)
    for stalls, kind in ([300], "typical"), ([300, 200, 150], "stalled"), ([1_500], "stalled"):
        took = calm.copy()
        took[: len(stalls)] = np.array(stalls) * MS
        assert verdict(ended("data_write", took)).verdict.kind == kind, stalls
    said = words.say(verdict(ended("data_write", np.append(calm, 1_500 * MS))))
    assert (
        said
        == "/work stalls: 1 of 41 writes took far longer than their median of 3.00 ms, up to 1.50 s"
    )


def test_a_hang_and_failures_go_before_everything_else() -> None:
    made = ended("md_create", np.full(40, 800 * MS))
    hung = verdict(made, away=Away("md_create", 2.4, "rpc_wait_bit_killable"), md_create=MS)
    assert words.say(hung) == (
        "/work hangs: a create has not come back for 2 s (kernel: rpc_wait_bit_killable)"
    )
    assert exit_code(hung.verdict) == 2
    assert verdict(made, away=Away("md_create", 1.9, ""), md_create=MS).verdict.kind == "slow"
    full = [Ended("md_create", 1, 0, 28, None)] * 3
    failing = verdict([*full, *ended("md_stat", np.full(3, MS))])
    assert words.say(failing) == "creates on /work fail: No space left on device"
    assert exit_code(failing.verdict) == 2


def test_the_median_and_its_interval_are_order_statistics() -> None:
    took = np.arange(1, 42) * MS
    one = timed(
        "md_stat", ended("md_stat", np.random.default_rng(1).permutation(took)), None, "ext4"
    )
    # n = 41: the binomial interval of the median is ranks 14 and 28 (Conover 1999, table A3).
    assert (one.median_ns, one.lower_ns, one.upper_ns) == (21 * MS, 14 * MS, 28 * MS)
    assert one.slowest_ns == 41 * MS


def test_listings_are_told_when_they_matter() -> None:
    assert words.listing("/w", Listing(12, MS, True)) == ""
    assert words.listing("/w", Listing(12, 2_000 * MS, True)) == "ls /w reads 12 names in 2.00 s"
    assert "slow for their number" in words.listing("/w", Listing(50_000, 90 * MS, True))
    assert words.listing("/w", Listing(200_000, 90 * MS, False)).startswith("ls /w reads more than")


def test_the_page_has_the_ranges_of_the_code() -> None:
    page = (ROOT / "docs" / "methods" / "ping.md").read_text()
    columns = ("md_list", "md_stat", "md_read", "md_create", "md_delete", "data_read", "data_write")
    for family, ranges in rows().items():
        cells = [
            f"{format_duration(ranges[op].low_ns)} - {format_duration(ranges[op].high_ns)}"
            for op in columns
        ]
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {family}: ")]
        assert line.split(" | ")[1:] == [*cells[:-1], f"{cells[-1]} |"]


def test_every_range_is_one_and_every_operation_has_one() -> None:
    for family, ranges in rows().items():
        assert set(ranges) == set(PING_OPS), family
        for one in ranges.values():
            assert 0 < one.low_ns < one.high_ns, family


def test_nothing_measured_says_so() -> None:
    found = verdict([])
    assert words.say(found) == "unknown: nothing was measured on /work"
    assert not judge([], None).ops
    one = timed("md_stat", [], None, "ext4")
    assert one.median_ns is None
    assert one.factor is None
    assert not math.isnan(one.n)
