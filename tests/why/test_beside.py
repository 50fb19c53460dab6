"""The host link asks all hosts x targets of the stretch where the events of several hosts do not decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iosonde.model.frames import Frame, TargetRef
from iosonde.weather.events.told import Happened
from iosonde.weather.store import Store
from iosonde.why.component import _beside_peers
from iosonde.why.host import host_link
from iosonde.why.links import LinkStanding, PartSource, Ratio, StretchFacts
from iosonde.why.question import Scene, Weather, WhyQuestion
from tests.kit.samples.made import made
from tests.kit.samples.makers import LATENCY, SECOND, START, simulated

BEGIN, END = START + 1860 * SECOND, START + 2640 * SECOND


def scene(root: Path, host: str, hosts: int) -> Scene:
    """What is slow on a host, with nothing that the events of the hosts say."""
    store = Store(root)
    refs = [TargetRef(f"n{number}", "/work") for number in range(hosts)]
    weather = Weather(store, refs, [], Happened([], [], [], []), [], BEGIN, END)
    facts = (host, "/work", "/work", None, "data_read", "slow", BEGIN, END, END)
    slow = StretchFacts(*facts, Ratio(4.0, 3.5, 4.5), 5.0, None, 13, None)
    windows = store.windows(60 * SECOND, host=host, since_ns=BEGIN, until_ns=END)
    flags = dict.fromkeys(("slow", "host_busy"), windows["n_due"] * 0)
    return Scene(weather, slow, windows.with_columns(flags), WhyQuestion(), END)


def store_of(root: Path, slow: set[int], hosts: int = 4) -> Path:
    """Hosts of which some see the target four times slower for a quarter of an hour."""
    fault = {"after": "1800s", "for": "900s", "multiply": 4.0}
    for host in range(hosts):
        faults = [fault] if host in slow else []
        target = {"path": "/work", "backend": "null", "latency": LATENCY, "fault": faults}
        simulated(root, 2700, host=f"n{host}", seed=host, target=[target])
    return root


def test_a_host_that_alone_is_slow_is_the_cause(tmp_path):
    link = host_link(scene(store_of(tmp_path, {2}), "n2", 4))
    assert link.standing is LinkStanding.FOUND
    assert link.found is not None
    assert (link.found.hosts, link.found.of_hosts) == (1, 4)


def test_a_target_that_all_hosts_see_slow_rules_the_host_out(tmp_path):
    link = host_link(scene(store_of(tmp_path, {0, 1, 2, 3}), "n2", 4))
    assert link.standing is LinkStanding.RULED_OUT
    assert link.fact is not None
    assert (link.fact.hosts, link.fact.of_hosts) == (4, 4)


def test_operations_that_were_lost_are_not_the_hosts(tmp_path):
    made(tmp_path, np.random.default_rng(7), START, 2700, host="n0", ops=("data_read",))
    one = scene(tmp_path, "n0", 1)
    number = len(one.windows)
    early = np.arange(number) < 2

    def link(lost):
        flags = {"slow": early, "host_busy": early, "lost": np.where(early, 0.0, lost)}
        return host_link(one._replace(windows=one.windows.with_columns(flags)))

    throttled = link(0.9)
    assert throttled.standing is LinkStanding.RULED_OUT
    assert (throttled.fact.busy, throttled.fact.slow) == (early.sum(), number)
    assert link(0.0).standing is LinkStanding.FOUND


def test_targets_that_were_slow_too_rule_nothing_out_while_others_are_not_judged():
    none = Frame({name: np.array([]) for name in ("target", "op", "slowdown")})
    hang = StretchFacts(
        *("n0", "/work", "/work", None, "data_read", "hang", BEGIN, END, END),
        *(None, None, None, 0, None),
    )

    def looked(slow_too):
        return _beside_peers(hang, none, ["/home", "/scratch"], PartSource.BESIDE, slow_too)

    assert looked({"/home"}) == ([], 0)
    assert looked({"/home", "/scratch"}) == ([], 2)
