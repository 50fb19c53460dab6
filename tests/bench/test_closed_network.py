"""Closed networks against closed forms, and the fit against networks that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from iosonde.bench.adaptive.rates import LEVELS
from iosonde.queue.capacity import MODEL_ERROR, CurveCoverage, capacity
from iosonde.queue.closed_network import Network

T = np.array(LEVELS)
networks = st.builds(
    lambda clients, service, ratio, servers: Network(clients, service, service * ratio, servers),
    st.integers(1, 60),
    st.floats(1e-6, 1.0),
    st.floats(0.0, 200.0),
    st.integers(1, 8),
)


def erlang_b(lines: int, load: float) -> float:
    """The share of time in which every one of ``lines`` is taken."""
    return float(stats.poisson.pmf(lines, load) / stats.poisson.cdf(lines, load))


@given(st.floats(1e-6, 10), st.floats(0, 10), st.integers(1, 9))
def test_one_client_meets_nobody(service, delay, servers):
    alone = Network(1, service, delay, servers)
    assert alone.corrected_per_s(T) == pytest.approx(1 / (service + delay))


@pytest.mark.parametrize(("clients", "load"), [(2, 0.5), (5, 3.0), (40, 60.0)])
def test_without_waits_it_is_the_machine_repair_model(clients, load):
    network = Network(clients, 1e-3, load * 1e-3)
    assert float(network.corrected_per_s(0.0)) == pytest.approx(1e3 * (1 - erlang_b(clients, load)))


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_waits_hang_on_the_response_they_change(factor):
    def missing(response: float) -> float:
        rate = 1e3 * (1 - erlang_b(12, (factor * response + 6e-3) / 1e-3))
        return float(12 / rate - factor * response - response)

    exact = optimize.brentq(missing, 7e-3, 20e-3)
    assert float(Network(12, 1e-3, 6e-3).response_s(factor)) == pytest.approx(exact, rel=1e-6)


@given(networks)
@settings(max_examples=60, deadline=None)
def test_bounds_hold_and_more_waiting_never_lowers_the_rate(network):
    rate = network.corrected_per_s(T)
    saturated, unsaturated = network.bounds_per_s(T)
    slack = 1 + 1e-9
    assert (rate <= saturated * slack).all()
    assert (rate <= unsaturated * slack).all()
    assert (np.diff(rate) >= -1e-9 * rate[1:]).all()
    assert (rate / rate[0] <= (1 + T) * slack).all()


@given(networks)
@settings(max_examples=40, deadline=None)
def test_one_more_client_adds_work_and_takes_time(network):
    more = Network(network.clients + 1, network.service_s, network.delay_s, network.servers)
    assert (more.corrected_per_s(T) >= network.corrected_per_s(T) * (1 - 1e-9)).all()
    assert (more.response_s(T) >= network.response_s(T) * (1 - 1e-9)).all()


def test_crowds_reach_the_limit_and_few_do_not():
    assert Network(5_000, 1e-3, 0.05, 2).corrected_per_s(T) == pytest.approx(
        2e3 * (1 + T), rel=1e-3
    )
    assert Network(2, 1e-3, 5.0).corrected_per_s(T) == pytest.approx(2 / 5.001, rel=1e-3)


@pytest.mark.parametrize(
    "wrong", [(0, 1.0, 1.0, 1), (1, 0.0, 1.0, 1), (1, 1.0, -1.0, 1), (1, 1.0, 1.0, 0)]
)
def test_impossible_networks_are_refused(wrong):
    with pytest.raises(ValueError, match=r"network|service"):
        Network(*wrong)


def measured(network, random, measurements=5, noise=0.05):
    logs = np.log(network.corrected_per_s(T)) + noise * random.standard_normal(
        (measurements, len(T))
    )
    return np.exp(logs)


@given(st.integers(8, 200), st.floats(0.32, 0.75), st.floats(1e-5, 1e-1))
@settings(max_examples=25, deadline=None)
def test_a_curve_without_noise_gives_its_network_back(clients, wanted, service):
    truth = Network(clients, service, (max(1.0, wanted * clients) - 1) * service)
    found = capacity(T, truth.corrected_per_s(T)[None, :], clients)
    assert found.coverage is CurveCoverage.BEND
    assert found.max_per_s.lower is None
    for name in MODEL_ERROR:
        assert getattr(found, name).value == pytest.approx(getattr(truth, name), rel=0.01)


def test_intervals_hold_what_is_true_as_often_as_they_say():
    random, truth = np.random.default_rng(2), Network(60, 2e-4, 2e-4 * 29)
    inside = dict.fromkeys(MODEL_ERROR, 0)
    for _ in range(60):
        found = capacity(T, measured(truth, random), 60)
        for name in inside:
            number = getattr(found, name)
            assert number.lower < number.value < number.upper
            inside[name] += number.lower <= getattr(truth, name) <= number.upper
    # of 60 at least 90% less two standard errors; without the model's own error they are wide
    assert min(inside.values()) >= 49


def test_one_wild_measurement_does_not_move_the_fit():
    random, truth = np.random.default_rng(4), Network(60, 2e-4, 2e-4 * 29)
    rate = measured(truth, random, noise=0.02)
    rate[2, 3] *= 5
    rate[1, 6] = np.nan
    found = capacity(T, rate, 60)
    assert found.max_per_s.value == pytest.approx(truth.max_per_s, rel=0.03)
    assert found.unloaded_s.value == pytest.approx(truth.unloaded_s, rel=0.06)


def test_what_is_not_seen_is_a_bound():
    flat = capacity(T, measured(Network(10, 1e-4, 1e-2), np.random.default_rng(1)), 10)
    assert flat.coverage is CurveCoverage.FLAT
    assert (flat.max_per_s.value, flat.saturating_clients.value) == (None, None)
    assert flat.saturating_clients.lower == 10
    assert flat.max_per_s.lower == pytest.approx(10 / 1.01e-2, rel=0.05)
    assert flat.unloaded_s.lower < 1.01e-2 < flat.unloaded_s.upper
    steep = capacity(T, measured(Network(100, 1e-4, 1e-4), np.random.default_rng(1)), 100)
    assert steep.coverage is CurveCoverage.STEEP
    assert steep.max_per_s.value == pytest.approx(1e4, rel=0.03)
    assert steep.saturating_clients.upper == 20
    assert steep.unloaded_s.upper == pytest.approx(2e-3, rel=0.03)
    assert (steep.unloaded_s.value, steep.unloaded_s.lower) == (None, None)
    edge = capacity(T, Network(100, 1e-4, 21e-4).corrected_per_s(T)[None, :], 100)
    assert edge.coverage is CurveCoverage.EDGE
    assert edge.saturating_clients.value == pytest.approx(22, rel=0.02)
    assert edge.saturating_clients.lower is None


def test_a_capacity_needs_both_ends():
    rate = measured(Network(10, 1e-3, 1e-2), np.random.default_rng(1))
    rate[:, -1] = np.nan
    with pytest.raises(ValueError, match="long ones"):
        capacity(T, rate, 10)
