"""Slow components in simulated runs: what was planted is named, healthy runs name nothing, gaps are said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.locate.locate_faults import KINDS, NOISES, generations_seen, judge, tellable
from benchmarks.truth.locate.locate_few import few
from benchmarks.truth.locate.simulate import Noise, healthy, run, with_ost
from benchmarks.truth.locate.systems import ost, server, system
from iosonde.bench.locate.dips import CHANCE
from iosonde.bench.locate.findings import CannotTell, Cause, Fault, Slow, TimeFactor
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.nested import NestedPrecision, Tree
from iosonde.bench.locate.rates import rates_of, series
from iosonde.bench.locate.slow import together
from iosonde.bench.locate.words import as_json, say, say_limits, table_rows
from iosonde.model.transfers import Stripes, Topology

SURE = [kind for kind in KINDS if "router" not in kind]
"""Faults that a single run shows at any seed; a failed router costs 7% and may hide."""


@pytest.mark.parametrize("fault", SURE)
@pytest.mark.parametrize("osts", [112, 144])
def test_a_planted_fault_is_named_with_its_kind(osts: int, fault: str) -> None:
    verdicts = [judge(osts, NOISES["5%/2%"], fault, seed) for seed in range(700, 704)]
    assert sum(verdict.right for verdict in verdicts) >= 3


def test_a_failed_router_is_found_in_most_runs() -> None:
    verdicts = [judge(360, NOISES["15%/3%, 3 runs"], "router", seed) for seed in range(6)]
    assert sum(verdict.right for verdict in verdicts) >= 4


@pytest.mark.parametrize("noise", list(NOISES))
def test_a_run_without_fault_names_none(noise: str) -> None:
    false = [judge(144, NOISES[noise], "none", seed).false for seed in range(300, 306)]
    assert sum(false) <= 1


@pytest.mark.parametrize(
    "noise", ["stragglers", "two generations", "2 files an OST", "no topology"]
)
@pytest.mark.parametrize("fault", ["oss", "fail-over", "host"])
def test_noise_does_not_hide_a_fault(noise: str, fault: str) -> None:
    assert tellable(144, NOISES[noise], fault)
    verdicts = [judge(144, NOISES[noise], fault, seed) for seed in range(3)]
    assert sum(verdict.right for verdict in verdicts) >= 2


def test_two_generations_are_a_cause_and_no_fault() -> None:
    found = judge(144, NOISES["two generations"], "none", 1).found
    assert found.slow == ()
    assert generations_seen(found)
    assert any("two kinds" in line for line in say(found))


def test_uneven_files_and_disk_position_are_causes() -> None:
    machine, rng = system(144), np.random.default_rng(8)
    noise = Noise(slope=0.25, balanced=False)
    found = locate(run(machine, noise, healthy(machine), rng), machine.topology())
    causes = {one.cause: one for one in found.uneven}
    assert found.slow == ()
    assert set(causes) == {Cause.IMBALANCE, Cause.POSITION}
    position = causes[Cause.POSITION]
    assert position.lower < 1 / 0.75 < position.upper * 1.02
    assert causes[Cause.IMBALANCE].loss == pytest.approx(1 - 1 / causes[Cause.IMBALANCE].factor)


def test_the_interval_holds_the_planted_factor() -> None:
    machine = system(144)
    fault = with_ost(healthy(machine), np.array([17]), 1 / 1.8)
    hits = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        slow = locate(run(machine, Noise(), fault, rng), machine.topology()).slow
        (one,) = (found for found in slow if found.fault is Fault.OST)
        assert (one.components, one.peers) == ((ost(17),), 143)
        hits += all(effect.lower <= 1.8 <= effect.upper for effect in one.effects)
    assert hits >= 8


def test_a_fault_of_one_direction_says_which() -> None:
    machine, rng = system(144), np.random.default_rng(3)
    fault = with_ost(healthy(machine), np.flatnonzero(machine.oss == 7), 0.6, (1,))
    (one,) = locate(run(machine, Noise(), fault, rng), machine.topology()).slow
    assert (one.fault, one.components) == (Fault.SERVER, (server(7),))
    assert [effect.direction for effect in one.effects] == ["read"]


def test_load_in_one_of_four_repetitions_is_no_slow_server() -> None:
    machine, rng = system(144), np.random.default_rng(4)
    transfers = run(machine, Noise(repetitions=4), healthy(machine), rng)
    loaded = (transfers.repetition == 2) & (machine.oss[transfers.stripes.target] == 5)
    took = transfers.transfer_end_ns - transfers.transfer_begin_ns
    end = np.where(loaded, transfers.transfer_begin_ns + 3 * took, transfers.transfer_end_ns)
    assert locate(replace(transfers, transfer_end_ns=end), machine.topology()).slow == ()


@pytest.mark.parametrize("missing", ["ost", "oss", "pair"])
def test_a_missing_level_is_said(missing: str) -> None:
    machine, rng = system(112), np.random.default_rng(5)
    parents = {k: v for k, v in machine.topology().parents.items() if k != missing}
    found = locate(run(machine, Noise(), healthy(machine), rng), Topology(parents))
    expected = {
        "ost": CannotTell.NO_SERVERS,
        "oss": CannotTell.NO_GROUPS,
        "pair": CannotTell.NO_PAIRS,
    }
    assert expected[missing] in found.limits
    assert found.slow == ()


def test_without_servers_slow_targets_are_named_together() -> None:
    machine, rng = system(144), np.random.default_rng(6)
    mine = np.flatnonzero(machine.oss == 11)
    fault = with_ost(healthy(machine), mine, 0.6)
    (one,) = locate(run(machine, Noise(), fault, rng), Topology()).slow
    assert set(one.components) == {ost(int(o)) for o in mine}
    assert one.peers == 140


def test_a_slow_target_of_striped_files_is_named() -> None:
    machine, rng = system(144), np.random.default_rng(7)
    transfers = run(machine, Noise(), healthy(machine), rng)
    n = len(transfers)
    target = np.stack([rng.permutation(144)[:4] for _ in range(n // 2)])
    target = np.concatenate([target, target])
    stripes = Stripes(np.arange(n + 1) * 4, target.ravel(), np.full(4 * n, 0.25))
    slow = (target == 33).any(axis=1)
    took = transfers.transfer_end_ns - transfers.transfer_begin_ns
    end = transfers.transfer_begin_ns + np.where(slow, 1.6 * took, took).astype(np.int64)
    striped = replace(transfers, stripes=stripes, transfer_end_ns=end)
    (one,) = locate(striped, machine.topology()).slow
    assert one.components == (ost(33),)
    assert one.effects[0].factor == pytest.approx(1.6, rel=0.1)
    wide = Stripes(np.arange(n + 1) * 144, np.tile(np.arange(144), n), np.full(144 * n, 1 / 144))
    found = locate(replace(transfers, stripes=wide), machine.topology())
    assert found.limits == (CannotTell.STRIPED,)
    assert say(found) == ["iosonde cannot tell whether a component is slow."]


def test_unknown_targets_hosts_and_times_leave_what_is_known() -> None:
    machine, rng = system(144), np.random.default_rng(9)
    fault = with_ost(healthy(machine), np.array([40]), 0.5)
    whole = run(machine, Noise(), fault, rng)
    target = whole.stripes.target.copy()
    target[::10] = -1
    end = whole.transfer_end_ns.copy()
    end[5::50] = whole.transfer_begin_ns[5::50] - 1
    host = np.full(len(whole), -1)
    partly = replace(whole, stripes=Stripes.single(target), transfer_end_ns=end, host=host)
    found = locate(partly, machine.topology())
    assert [one.components for one in found.slow] == [(ost(40),)]
    assert CannotTell.NO_HOSTS in found.limits
    nothing = replace(whole, stripes=Stripes.single(np.full(len(whole), -1)))
    assert locate(nothing, machine.topology()).limits == (CannotTell.NO_TARGETS,)


def test_the_nested_precision_is_the_inverse() -> None:
    rng = np.random.default_rng(1)
    server_of, group = np.array([0, 0, 1, 1, 1, 2, 3, 3]), np.array([0, 1, 0, 1])

    def positive() -> np.ndarray:
        a = rng.normal(size=(2, 2))
        return a @ a.T + 0.1 * np.eye(2)

    own, same_server, same_group = [positive() for _ in server_of], positive(), positive()
    tree = Tree(server_of, group)
    of = tree.group_of_target()
    cov = np.zeros((8, 2, 8, 2))
    for i in range(8):
        for j in range(8):
            cov[i, :, j] = (i == j) * own[i] + (server_of[i] == server_of[j]) * same_server
            cov[i, :, j] += (of[i] == of[j]) * same_group
    inverse = np.linalg.inv(cov.reshape(16, 16)).reshape(8, 2, 8, 2)
    nested = NestedPrecision(np.linalg.inv(np.array(own)), same_server, same_group, tree)
    x = rng.normal(size=(8, 2, 3))
    np.testing.assert_allclose(nested.solve(x), np.einsum("iajb,jbc->iac", inverse, x), atol=1e-9)
    for info, number in ((nested.server_info(), server_of), (nested.group_info(), of)):
        for place in range(len(info)):
            mine = number == place
            np.testing.assert_allclose(
                info[place], inverse[mine][:, :, mine].sum((0, 2)), atol=1e-9
            )


def test_the_tail_costs_what_disk_position_explains() -> None:
    machine = system(144)
    for slope, low, high in ((0.25, 0.15, 0.215), (0.40, 0.25, 0.315)):
        losses = [
            phase.tail_loss
            for seed in range(6)
            for phase in rates_of(
                run(machine, Noise(slope=slope), healthy(machine), np.random.default_rng(seed))
            )
        ]
        assert low <= np.mean(losses) <= high


def test_rates_add_up() -> None:
    machine, rng = system(18), np.random.default_rng(2)
    transfers = run(machine, Noise(), healthy(machine), rng)
    for phase in rates_of(transfers):
        assert phase.last_finisher * phase.last_end_s == pytest.approx(phase.bytes)
        assert phase.last_finisher < phase.sustained
        _, rate = series(transfers, phase.repetition, phase.direction == "read")
        assert rate.sum() * 0.25 == pytest.approx(phase.bytes)


def test_sentences_are_short_and_json_is_plain() -> None:
    import json

    for fault in KINDS:
        found = judge(144, replace(NOISES["5%/2%"], repetitions=3), fault, 5).found
        for line in (*say(found), *say_limits(found)):
            assert len(line.split()) <= 25
            assert line.endswith(".")
        assert len(table_rows(found)) >= len(found.slow)
        json.dumps(as_json(found, []), allow_nan=False)


def test_absurd_ranks_and_instants_cost_no_memory() -> None:
    verdict = judge(144, NOISES["5%/2%"], "dip", 3)
    assert verdict.right
    machine, rng = system(144), np.random.default_rng(10)
    fault = replace(healthy(machine), dip=(-1, 10.0, 4.0, 0.3))
    transfers = run(machine, Noise(), fault, rng)
    rank, end = transfers.rank.copy(), transfers.transfer_end_ns.copy()
    rank[0], end[0] = 2**62, 2**62
    odd = replace(transfers, rank=rank, transfer_end_ns=end)
    assert Fault.DIP in {one.fault for one in locate(odd, machine.topology()).slow}
    begin, rate = series(odd, 0, 0)
    assert len(begin) <= 100_001
    assert np.isfinite(rate).all()


@pytest.mark.parametrize("osts", [4, 5, 7])
def test_of_a_few_targets_the_slow_one_is_named_and_no_healthy_one(osts: int) -> None:
    machine, noise = few(osts), Noise(0.1, 0.05, 3, files_per_ost=2)
    fault = with_ost(healthy(machine), np.array([1]), 0.4)
    false = right = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, osts])
        false += bool(locate(run(machine, noise, healthy(machine), rng), Topology()).slow)
        slow = locate(run(machine, noise, fault, rng), Topology()).slow
        right += [one.components for one in slow] == [(ost(1),)]
    assert false <= 1
    assert right >= 28


def test_three_targets_are_too_few() -> None:
    machine = few(3)
    found = locate(run(machine, Noise(), healthy(machine), np.random.default_rng(1)), Topology())
    assert found.limits == (CannotTell.FEW_TARGETS,)


def test_a_dip_has_a_chance_and_restless_rates_have_none() -> None:
    (one,) = judge(112, NOISES["5%/2%"], "oss dip", 12).found.slow
    assert one.fault is Fault.DIP
    assert 0 < one.chance < CHANCE
    false = [judge(112, NOISES["restless rates"], "none", seed).false for seed in range(8)]
    assert sum(false) == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_slow_target_of_a_fast_server_is_named_beside_its_siblings(seed: int) -> None:
    """A third of the servers is faster by a fifth: there a slow target is hardly slower than the others."""
    machine, rng = system(144), np.random.default_rng(seed)
    fast, slow = machine.oss % 3 == 0, int(np.flatnonzero(machine.oss == 6)[1])
    rates = np.where(fast, 1.25, 1.0) * np.where(np.arange(144) == slow, 1 / 1.3, 1.0)
    fault = replace(healthy(machine), ost=np.tile(rates, (2, 1)))
    found = locate(run(machine, Noise(repetitions=6), fault, rng), machine.topology()).slow
    assert [one.components for one in found] == [(ost(slow),)]


def test_targets_that_are_slower_than_others_are_a_finding_of_their_own() -> None:
    def one(name: str, factor: float) -> Slow:
        effect = TimeFactor("read", factor, factor / 1.4, factor * 1.4)
        return Slow(Fault.OST, "ost", (name,), (effect,), 1e-6, 24, 24, 359)

    slow = [one(f"disk{k}", 1.3 + 0.01 * k) for k in range(12)]
    found = together([*slow[:5], one("bad", 2.0), *slow[5:], one("worse", 2.1)])
    assert [len(each.components) for each in found] == [12, 2]
    assert found[1].components == ("bad", "worse")


@pytest.mark.parametrize("seed", range(6))
def test_a_single_file_on_a_target_is_not_named_where_others_have_more(seed: int) -> None:
    """Files at random: those of a target share its rate, and a file alone reaches 0.6 of it."""
    machine, rng = system(112), np.random.default_rng(seed)
    transfers = run(machine, Noise(repetitions=3), healthy(machine), rng)
    target, count = transfers.stripes.target, np.clip(rng.poisson(4, 112), 1, 8)
    phase = (transfers.repetition * 2 + transfers.direction) * 112 + target
    order = np.argsort(phase, kind="stable")
    place = np.empty(len(target), dtype=np.int64)
    place[order] = np.arange(len(target)) - np.searchsorted(phase[order], phase[order])
    took = 1e9 * np.maximum(count, 1 / 0.6)[target] * np.exp(0.08 * rng.normal(size=len(target)))
    some = replace(
        transfers,
        bytes=np.where(place < count[target], transfers.bytes, 0),
        transfer_end_ns=transfers.transfer_begin_ns + took.astype(np.int64),
    )
    named = {name for one in locate(some, machine.topology()).slow for name in one.components}
    assert not named & {ost(number) for number in np.flatnonzero(count == 1).tolist()}


def test_two_kinds_need_more_than_two_files_of_each_and_have_an_interval() -> None:
    machine = system(144)
    inside = 0
    for seed in range(10):
        noise = Noise(old_share=0.4, files_per_ost=4)
        found = locate(
            run(machine, noise, healthy(machine), np.random.default_rng(seed)), machine.topology()
        )
        (kinds,) = (one for one in found.uneven if one.cause is Cause.GENERATIONS)
        assert kinds.lower < kinds.factor < kinds.upper
        inside += kinds.lower <= 1 / 0.7 <= kinds.upper
    assert inside >= 8
    few = Noise(old_share=0.4, files_per_ost=2)
    found = locate(run(machine, few, healthy(machine), np.random.default_rng(1)), Topology())
    assert all(one.cause is not Cause.GENERATIONS for one in found.uneven)
