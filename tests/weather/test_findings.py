from __future__ import annotations

from datetime import UTC

import pytest

from iosonde.model.errors import UnitError, UsageError
from iosonde.model.frames import SeriesKey, SlowSpan
from iosonde.weather.slowdown.answers import OK, UNKNOWN, check, ensure_ordered, parse_range
from iosonde.weather.slowdown.findings import from_span, from_state, from_states, worst_first
from iosonde.weather.slowdown.words import conclude, say
from tests.kit.samples.makers import SECOND, START, state, with_ops

SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
SLOW |= {"since_ns": START - 500 * SECOND}
WARNING, CRITICAL = 1, 2
PARTLY = {"state": "slow", "slowdown": 1.1, "slowdown_lower": 0.9, "slowdown_upper": 1.3}
PARTLY |= {"tail": 26.0, "alarm": "share", "partly": True, "since_ns": START - 500 * SECOND}
HUNG = {"state": "hung", "inflight_ns": 12 * SECOND, "inflight_due_ns": START - 12 * SECOND}


def said(a_state, later_s=0):
    finding = from_state(a_state | {"error": None}, START + later_s * SECOND)
    return finding.kind, finding.severity, say(finding, UTC)


@pytest.mark.parametrize(
    ("a_state", "kind", "severity", "sentence"),
    [
        (
            with_ops(md_delete={"slowdown": 1.2, "slowdown_lower": 1.1, "slowdown_upper": 1.3}),
            "usual",
            "ok",
            "/work is as usual: the slowest operation, deletes, is at 1.2x (1.1-1.3)",
        ),
        (
            with_ops(data_read=SLOW),
            "slow",
            "slow",
            "reads on /work are 3.1x slower than usual (2.8-3.4) since 14:05",
        ),
        (
            with_ops(data_read=SLOW, md_stat=SLOW | {"slowdown": 12.4}),
            "slow",
            "slow",
            "stats on /work are 12x slower than usual (2.8-3.4) since 14:05, "
            "reads 3.1x (2.8-3.4) since 14:05",
        ),
        (
            with_ops(data_read=SLOW | {"host_busy": True}),
            "host_busy",
            "info",
            "the probing host is busy: reads on /work are 3.1x slower than usual (2.8-3.4) "
            "since 14:05, not proof of slow storage",
        ),
        (
            with_ops(data_read=SLOW | {"host_busy": True, "baseline_ns": 13_000}),
            "host_busy",
            "info",
            "reads on /work are 3.1x slower than usual (2.8-3.4) since 14:05: "
            "no more than a processor takes to wake",
        ),
        (
            with_ops(
                md_stat={"late": 0.4, "host_busy": True},
                data_read={"late": 0.38, "host_busy": True},
            ),
            "host_busy",
            "info",
            "the probing host is busy: 40% of stats on /work began late or never, 38% of reads, "
            "not proof of slow storage",
        ),
        (
            with_ops(md_stat={"late": 0.4, "host_busy": True}, data_read=SLOW),
            "slow",
            "slow",
            "reads on /work are 3.1x slower than usual (2.8-3.4) since 14:05",
        ),
        (
            with_ops(data_read=SLOW | {"host_busy": True}, md_stat=SLOW),
            "slow",
            "slow",
            "stats on /work are 3.1x slower than usual (2.8-3.4) since 14:05",
        ),
        (
            with_ops(md_create=HUNG, md_read=HUNG, md_delete={"state": "failing"}),
            "hung",
            "hung",
            "creates and small reads on /work have been hanging for 12 s (since 14:13:08); "
            "reads, writes, stats still answer",
        ),
        (
            with_ops(
                md_create={"state": "failing", "last_outcome": "ENOSPC", "since_ns": START},
            ),
            "failing",
            "hung",
            "creates on /work are failing (ENOSPC) since 14:13",
        ),
        (
            state(ops=[]),
            "learning",
            "info",
            "/work: still learning the baseline (0 of 5 windows)",
        ),
        (state(running=False, state="stopped"), "stopped", "unknown", None),
    ],
)
def test_states_in_words(a_state, kind, severity, sentence):
    found = said(a_state)
    assert found[:2] == (kind, severity)
    if sentence:
        assert found[2] == sentence


def test_a_part_that_is_slow_is_said_to_be_a_part():
    kind, severity, sentence = said(with_ops(md_create=PARTLY))
    assert (kind, severity) == ("slow", "slow")
    assert sentence == (
        "a part of the operations on /work is slower than usual: "
        "creates (the slowest twentieth 26x) since 14:05"
    )
    assert said(with_ops(md_create=PARTLY, data_read=SLOW))[2] == (
        "reads on /work are 3.1x slower than usual (2.8-3.4) since 14:05, "
        "a part of creates since 14:05"
    )
    assert check([with_ops(md_create=PARTLY)], START)[0] == WARNING


def test_a_cache_that_stops_is_said_with_both_shares():
    cold = PARTLY | {"tail": 1.4, "alarm": "cache", "hits": 0.02, "hits_usual": 0.8}
    assert said(with_ops(data_read=cold)) == (
        "slow",
        "slow",
        "only 2% of the reads on /work come from a cache since 14:05 (usually 80%)",
    )
    both = said(with_ops(data_read=cold | {"hits": 0.0}, md_create=PARTLY))[2]
    assert both == (
        "none of the reads on /work come from a cache since 14:05 (usually 80%), "
        "a part of creates since 14:05"
    )
    assert check([with_ops(data_read=cold)], START)[0] == WARNING
    whole = SLOW | {"alarm": "cache", "hits": 0.02, "hits_usual": 0.8}
    assert said(with_ops(data_read=whole))[2] == (
        "reads on /work are 3.1x slower than usual (2.8-3.4) since 14:05, "
        "only 2% from a cache (usually 80%)"
    )


def test_what_may_be_slow_is_not_simply_as_usual():
    kind, _, sentence = said(
        with_ops(data_read={"slowdown": 7.5, "slowdown_lower": 1.2, "slowdown_upper": 8.7})
    )
    assert kind == "usual"
    assert sentence == (
        "/work is as usual: the slowest operation, reads, is at 7.5x (1.2-8.7), "
        "which is too uncertain to be called slow"
    )


def test_what_its_windows_vary_by_is_the_reason_and_alerts_nobody():
    """While what is usual is learnt the agent asks for more than an interval: so do sentence and code."""
    young = with_ops(data_read={"slowdown": 28.0, "slowdown_lower": 14.0, "slowdown_upper": 38.0})
    assert said(young)[::2] == (
        "usual",
        "/work is as usual: the slowest operation, reads, is at 28x (14-38), "
        "no more than its windows have varied so far",
    )
    assert check([young], START)[0] == OK


def test_what_is_lost_alerts_though_the_host_is_busy():
    lost = {"lost": 0.5, "lost_lower": 0.3, "late": 0.4, "host_busy": True}
    assert said(with_ops(md_create=lost))[:2] == ("lost", "slow")
    assert check([with_ops(md_create=lost)], START)[0] == WARNING
    assert check([with_ops(md_create={"late": 0.9, "host_busy": True})], START)[0] == OK


def test_usual_that_became_slower_is_said():
    assert said(with_ops(md_create={"climate": 1.52}))[2].endswith(
        "; usual itself has become 1.5x slower for creates than it was at first"
    )
    assert "usual itself" not in said(with_ops(md_create={"climate": 1.1}))[2]


def test_learning_counts_windows_and_few_says_so():
    unknown = {"state": "learning", "slowdown": None, "slowdown_lower": None}
    ops = [op | unknown | {"baseline_windows": 3} for op in state()["ops"]]
    learning = said(state(ops=ops))
    assert learning[2] == "/work: still learning the baseline (3 of 5 windows)"
    ops = [op | {"baseline_windows": 9} for op in ops]
    assert said(state(ops=ops))[::2] == (
        "few",
        "/work: too few operations ended well of late to tell",
    )


def test_silence_is_unknown_from_ten_seconds_or_five_periods_on():
    assert said(state(), 10)[0] == "usual"
    assert said(state(), 11) == (
        "stale",
        "unknown",
        "unknown: no news of /work since 14:13 (the probe may have stopped)",
    )
    assert said(state(period_ns=60 * SECOND), 290)[0] == "usual"
    assert said(state(period_ns=60 * SECOND), 301)[0] == "stale"


def test_a_clock_that_is_ahead_counts_by_the_time_of_its_file():
    now_ns = START - 3600 * SECOND
    assert said(state(heard_ns=now_ns), -3600)[0] == "usual"
    assert said(state(heard_ns=now_ns - 11 * SECOND), -3600)[0] == "stale"
    assert said(state(), -3600)[0] == "stale"


def span(**changes):
    values = {
        "key": SeriesKey("login2", "/work", "data_read", SECOND),
        "start_ns": START - 7200 * SECOND,
        "end_ns": START - 3600 * SECOND,
        "refined": True,
        "windows": 60,
        "n": 3600,
        "baseline_ns": 1e6,
        "median_ns": 3.1e6,
        "slowdown": 3.1,
        "lower": 3.0,
        "upper": 3.2,
        "host_busy": False,
        "ongoing": False,
    }
    return SlowSpan(**values | changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "reads on /work were 3.1x slower than usual (3.0-3.2) from 12:13 to 13:13"),
        ({"ongoing": True}, "reads on /work are 3.1x slower than usual (3.0-3.2) since 12:13"),
        (
            {"start_ns": START - 60 * SECOND, "end_ns": START - 50 * SECOND},
            "reads on /work were 3.1x slower than usual (3.0-3.2) from 14:12:20 to 14:12:30",
        ),
        (
            {"slowdown": None, "lower": None, "upper": None, "n": 2},
            "reads on /work were slower than usual from 12:13 to 13:13",
        ),
        (
            {"host_busy": True, "baseline_ns": 13_000},
            "reads on /work were 3.1x slower than usual (3.0-3.2) from 12:13 to 13:13: "
            "no more than a processor takes to wake",
        ),
        (
            {"host_busy": True},
            "the probing host was busy: reads on /work were 3.1x slower than usual (3.0-3.2) "
            "from 12:13 to 13:13, not proof of slow storage",
        ),
        (
            {"start_ns": START - 40 * 3600 * SECOND, "end_ns": START - 39 * 3600 * SECOND},
            "reads on /work were 3.1x slower than usual (3.0-3.2) from 2026-09-19 22:13 to 23:13",
        ),
    ],
)
def test_spans_in_words(changes, sentence):
    assert say(from_span(span(**changes), START), UTC) == sentence


def test_the_worst_comes_first():
    findings = [
        from_state(s | {"error": None}, START)
        for s in (
            state(target="/a"),
            with_ops(md_stat=SLOW) | {"target": "/b"},
            with_ops(md_stat=SLOW | {"slowdown": 9.0}) | {"target": "/c"},
            with_ops(md_stat=HUNG) | {"target": "/d"},
            state(target="/e", running=False),
        )
    ]
    assert [f.target for f in worst_first(findings)] == ["/d", "/c", "/b", "/e", "/a"]


def test_findings_are_plain_data():
    finding = from_state(with_ops(data_read=SLOW) | {"error": None}, START)
    plain = finding.to_json()
    assert plain["ops"][0]["op"] == "data_read"
    assert (plain["slowdown"], plain["lower"], plain["n"]) == (3.1, 2.8, 60)


def test_nothing_can_be_concluded_from_nothing():
    assert conclude([]) == "nothing was measured"


@pytest.mark.parametrize(
    ("text", "alerts", "fine"),
    [
        ("10", [-1, 10.1], [0, 10]),
        ("10:", [9.9], [10, 1e9]),
        ("~:10", [10.1], [-1e9, 10]),
        ("10:20", [9, 21], [10, 20]),
        ("@10:20", [10, 15, 20], [9.9, 20.1]),
        ("-5:5", [-6], [-5, 0]),
        ("1.5", [1.6], [1.5]),
        ("@~:0", [-1, 0], [1]),
    ],
)
def test_ranges(text, alerts, fine):
    def level(value):
        ops = {"slowdown": value, "slowdown_lower": None}
        a_state = with_ops()
        a_state["ops"] = [a_state["ops"][0] | ops]
        return check([a_state], START, warning="@1000000:1000001", critical=text)[0]

    assert [level(value) for value in alerts] == [CRITICAL] * len(alerts)
    assert [level(value) for value in fine] == [OK] * len(fine)


def test_a_warning_comes_before_it_is_critical():
    ensure_ordered("2", None)
    ensure_ordered("@5:9", "2")
    with pytest.raises(UsageError, match="-w 5 warns above -c 2; expected a warning before"):
        ensure_ordered("5", "2")


@pytest.mark.parametrize("text", ["", ":", "@", "a", "20:10", "1:2:3", "~", "1e3", "--5"])
def test_what_is_no_range(text):
    with pytest.raises(UnitError, match="cannot read the range"):
        parse_range(text)


@pytest.mark.parametrize(
    ("a_state", "warning", "critical", "level"),
    [
        (state(), "2", "5", OK),
        (with_ops(data_read=SLOW), "2", "5", WARNING),
        (with_ops(data_read=SLOW), "2", "3", CRITICAL),
        (with_ops(data_read=SLOW | {"host_busy": True}), "2", "3", OK),
        (with_ops(data_read=SLOW | {"slowdown_lower": 0.9}), "2", "3", CRITICAL),  # found is found
        (with_ops(data_read=SLOW | {"slowdown_lower": None}), "2", "5", WARNING),
        (with_ops(md_stat=HUNG), "~:99", "~:99", CRITICAL),
        (with_ops(md_stat={"state": "failing"}), "2", "5", CRITICAL),
        (state(running=False), "2", "5", UNKNOWN),
        (state(ops=[]), "2", "5", UNKNOWN),
        (state(), "@1:2", "5", WARNING),
        (state(), "1.05", "5", WARNING),
    ],
)
def test_plugin_status(a_state, warning, critical, level):
    assert check([a_state | {"error": None}], START, warning, critical)[0] == level


def test_a_known_problem_outweighs_not_knowing():
    fine, slow, unknown = state(), with_ops(data_read=SLOW), state(ops=[])
    assert check([fine, unknown, slow], START)[0] == WARNING
    assert check([fine, unknown], START)[0] == UNKNOWN
    assert check([fine], START)[0] == OK


def part(name, a_state=None, of="/work"):
    component = {"name": name, "of": of, "kind": "ost", "index": 3}
    target = {"target": f"{of}/{name}", "component": component, "error": None}
    return (a_state or state()) | target


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "/work, server OST3, is as usual: the slowest operation, reads, is at 1.1x (1.0-1.2)"),
        (
            {"data_read": SLOW},
            "reads on /work, server OST3, are 3.1x slower than usual (2.8-3.4) since 14:05",
        ),
        (
            {"data_read": HUNG | {"wchan": "x"}},
            "reads on /work, server OST3, have been hanging for 12 s (since 14:13:08), waiting in "
            "the kernel's x; writes, creates, stats, small reads, deletes still answer",
        ),
        (
            {"data_read": {"state": "failing"}},
            "reads on /work, server OST3, are failing (ok)",
        ),
    ],
)
def test_a_sentence_names_the_server(changed, sentence):
    assert said(part("OST3", with_ops(**changed)))[2] == sentence
    stale = said(part("OST3", with_ops(**changed)), later_s=60)[2]
    assert stale.startswith("unknown: no news of /work, server OST3, since 14:13")


def test_a_slow_server_is_told_apart_from_those_that_are_as_usual():
    def told(*states):
        return [say(f, UTC) for f in from_states(states, START)]

    slow, other = part("OST9", with_ops(data_read=SLOW)), part("OST0", of="/home")
    alone = "reads on /work, server OST9, are 3.1x slower than usual (2.8-3.4) since 14:05"
    assert told(slow, other, state() | {"error": None})[0] == alone
    one, many = told(slow, part("OST1"))[0], told(slow, *map(part, "gfedcba"))[0]
    assert one == f"{alone}; OST1 is as usual"
    assert many == f"{alone}; a, b, c, d and 3 more are as usual"
    both = told(slow, part("OST1", with_ops(data_read=SLOW)), part("OST2"))
    assert [text.endswith("; OST2 is as usual") for text in both] == [True, True, False]
    elsewhere = part("OST1") | {"host": "other"}
    assert told(slow, elsewhere)[0] == alone
