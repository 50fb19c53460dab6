"""The rule and its sentence: what each link gives, what is said where one is withdrawn, and no word too strong."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from iosonde.jobs.attribution.culprits import Confidence
from iosonde.why.component import CEILING
from iosonde.why.evidence import REASONS, lines
from iosonde.why.links import (
    Gap,
    HostEvidence,
    Kind,
    LookedAt,
    Parts,
    PartSource,
    Ratio,
    Why,
    found,
    not_known,
    ruled_out,
)
from iosonde.why.words import DECIDING, MOST_WORDS, say
from tests.why.made_links import (
    BEGIN,
    FOUND,
    GAPS,
    JOB,
    NOW,
    RULED_OUT,
    SERVER,
    answer,
    back,
    culprit,
    load,
    part,
    stretch,
)

ALONE = part(PartSource.BESIDE, "/work")
SILENT = part(PartSource.BESIDE, "/work", against_peers=Ratio(CEILING, CEILING, CEILING))
PEERS = found(Parts((part(peers_slow=4.0),), ((PartSource.PROBED, 3),)))
LARGEST = culprit(confidence=Confidence.OPERATIONS, share=None)
ARRAY = replace(LARGEST, job="", by="user")
NETWORK = ruled_out(Parts((), ((PartSource.BESIDE, 3),), 3))
CASES = {
    "server": ({"component": FOUND["component"]}, Kind.SLOW_COMPONENT),
    "file system": ({"component": found(Parts((ALONE,), ()))}, Kind.SLOW_COMPONENT),
    "file system, load unknown": (
        {"component": found(Parts((ALONE,), ())), "load": not_known(Gap.NO_RECORDS)},
        Kind.NO_CAUSE,
    ),
    "job": ({"load": FOUND["load"]}, Kind.ONE_JOB),
    "job on a server": (
        {"load": FOUND["load"], "component": FOUND["component"]},
        Kind.ONE_JOB,
    ),
    "server and job": (
        {"component": PEERS, "load": found(load(culprit(), of_peers=True))},
        Kind.SEVERAL,
    ),
    "two jobs": ({"load": found(load(culprit(), culprit("4712")))}, Kind.SEVERAL),
    "a user": ({"load": found(load(ARRAY))}, Kind.ONE_JOB),
    "all jobs": ({"load": found(load(together=True))}, Kind.OVERLOAD),
    "night": ({"recurrence": found(back()), "load": FOUND["load"]}, Kind.RECURRING),
    "level": ({"change": FOUND["change"]}, Kind.LASTING_CHANGE),
    "level that a job keeps up": (
        {"change": FOUND["change"], "load": FOUND["load"]},
        Kind.ONE_JOB,
    ),
    "all targets": ({"component": NETWORK, "load": found(load(together=True))}, Kind.EVERYTHING),
    "all targets, one host": (
        {"component": NETWORK, "host": ruled_out(HostEvidence("login1", 0, 9, 1, 4))},
        Kind.NO_CAUSE,
    ),
    "processor": ({"host": FOUND["host"], "load": FOUND["load"]}, Kind.THIS_HOST),
    "nothing explains it": ({}, Kind.NO_CAUSE),
}


@pytest.mark.parametrize("name", CASES)
def test_each_rule(name):
    links, kind = CASES[name]
    assert answer(**links).kind is kind


def test_a_sentence_names_what_was_found():
    text = say(answer(component=FOUND["component"]), NOW)
    assert text.startswith(f"reads on /work, server {SERVER}, were 6.1x slower than usual")
    assert text.endswith("the other 3 servers are as usual")
    assert f"job {JOB} caused most of it" in say(answer(load=FOUND["load"]), NOW)
    both = say(answer(**CASES["server and job"][0]), NOW)
    assert f"{SERVER} is slow by itself, and job {JOB} slowed all servers" in both
    assert "daily 02:00-03:30 UTC (9 of 10 days)" in say(answer(**CASES["night"][0]), NOW)


def test_who_stands_out_by_operations_is_named_with_them_and_no_stronger():
    other = replace(LARGEST, job="4712", ops_share=0.11)
    assert f": job {JOB} made 80% of the operations" in say(answer(load=found(load(LARGEST))), NOW)
    assert ": user mallory made 80% of the operations" in say(answer(load=found(load(ARRAY))), NOW)
    both = say(answer(load=found(load(LARGEST, other))), NOW)
    assert f": jobs {JOB} and 4712 made 91% of the operations" in both
    mixed = say(answer(load=found(load(culprit(), other))), NOW)
    assert f": job {JOB} caused most of it, job 4712 made 11% of the operations" in mixed
    told = lines(answer(load=found(load(ARRAY))), NOW)
    assert any(
        "user mallory stands out by its operations: 80% of the operations" in t for t in told
    )


def test_all_targets_at_once_point_to_the_network():
    text = say(answer(component=NETWORK), NOW)
    assert ": all 4 targets were slow at once, which points to the network" in text
    told = lines(answer(component=NETWORK), NOW)
    assert "component: no part stands out: all 3 other targets were slow, too" in told


def test_nothing_slow_says_what_was_looked_at():
    gap = not_known(Gap.NOTHING_SLOW)
    whole = answer()
    none = replace(whole.links, **dict.fromkeys((*DECIDING, "remedy", "slowness"), gap))
    text = say(Why(Kind.NOTHING_SLOW, none, LookedAt(("/a", "/b"), ("h",), BEGIN, NOW)), NOW)
    assert text.startswith("nothing is slow: no slow stretch of 2 targets from 1 host between")
    told = lines(Why(Kind.NOTHING_SLOW, none, LookedAt(("/a", "/b"), ("h",), BEGIN, NOW)), NOW)
    assert told == ["looked at /a, /b, seen from h"]


SECRETS = {
    "component": (SERVER, "servers are"),
    "load": (JOB, "mallory", "caused", "involved"),
    "host": ("caused most", "slowed all", "processor"),
    "recurrence": ("daily", "recurs", "9 of 10"),
    "change": ("lasts", "has stayed", "level before"),
}
"""What only the link's data can say."""


def _whole(chosen, withdrawn):
    links = {name: FOUND[name] if name in chosen else RULED_OUT[name] for name in RULED_OUT}
    links |= {name: not_known(GAPS[name]) for name in withdrawn}
    facts = stretch()
    if "component" in withdrawn:
        # Without parts only the whole target was probed.
        facts = stretch(target="/work", component=None)
    if "load" in withdrawn:
        links["remedy"] = not_known(Gap.NO_LOAD)
    return answer(facts, **links)


@pytest.mark.parametrize("withdrawn", DECIDING)
def test_a_link_without_data_is_named_and_never_guessed(withdrawn):
    """Whatever else was found: each subset of the other links, with one link's data withdrawn."""
    others = [name for name in DECIDING if name not in (withdrawn, "host")]
    for n in range(len(others) + 1):
        for chosen in itertools.combinations(others, n):
            one = _whole(chosen, [withdrawn])
            text, told = say(one, NOW), lines(one, NOW)
            assert withdrawn in text.split("not known: ")[1].split(", "), text
            assert not any(word in text for word in SECRETS[withdrawn]), text
            (line,) = [line for line in told if line.startswith(f"{withdrawn}: ")]
            assert line == f"{withdrawn}: not known: {REASONS[GAPS[withdrawn]]}"
            rest = " ".join(line for line in told if not line.startswith("host: "))
            if withdrawn != "host":
                assert not any(word in rest for word in SECRETS[withdrawn][:2]), rest


def test_every_subset_of_links_stays_within_the_words():
    for n in range(len(DECIDING) + 1):
        for withdrawn in itertools.combinations(DECIDING, n):
            for m in range(len(DECIDING) + 1):
                for chosen in itertools.combinations(DECIDING, m):
                    text = say(_whole(chosen, withdrawn), NOW + 40 * 86_400_000_000_000)
                    assert len(text.split()) <= MOST_WORDS, text


@pytest.mark.parametrize("name", CASES)
def test_long_names_and_open_ends_stay_within_the_words(name):
    links, _ = CASES[name]
    facts = stretch(whole="/gpfs/" + "x" * 200, end_ns=None)
    for gaps in itertools.combinations(DECIDING, 2):
        withheld = {gap: not_known(GAPS[gap]) for gap in gaps if gap not in links}
        text = say(answer(facts, **{**links, **withheld}), NOW + 90 * 86_400_000_000_000)
        assert len(text.split()) <= MOST_WORDS, text


def test_a_word_is_no_stronger_than_its_weakest_link():
    weak = found(load(culprit(confidence=Confidence.PROBABLE)))
    assert "was probably involved" in say(answer(load=weak), NOW)
    unknown = not_known(Gap.NO_CONTROL)
    text = say(answer(load=FOUND["load"], host=unknown), NOW)
    assert "was probably involved" in text
    assert text.endswith("not known: host")


def test_other_hosts_put_it_down_to_this_one():
    alone = found(HostEvidence("login1", 0, 0, 1, 4))
    text = say(answer(host=alone), NOW)
    assert text.endswith("login1 is the cause, 3 other hosts saw nothing")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hang", "reads on /work hung"),
        ("failing", "reads on /work failed"),
        ("lost", "reads on /work were late or missing"),
        ("partly_slow", "some reads on /work were slow"),
    ],
)
def test_other_kinds_of_stretches(kind, words):
    assert say(answer(stretch(kind=kind, factor=None)), NOW).startswith(words)


def test_operations_that_the_host_began_late_are_said_to_have_begun_late():
    late = stretch(kind="host_busy", factor=None, peak=None, lost=0.12, end_ns=None, windows=0)
    one = answer(late, host=found(HostEvidence("login1", 0, 0, 0, 0)))
    assert say(one, NOW).startswith("12% of reads on /work have begun late or never since ")
    assert say(one, NOW).endswith("the processor of login1 was busy, not the storage")
    told = dict(line.split(": ", 1) for line in lines(one, NOW))
    assert told["host"] == "login1 began operations late whose lanes were free"
    quiet = answer(stretch(), host=ruled_out(HostEvidence("login1", 0, 0, 0, 0)))
    assert "0 of 0 slow windows" in " ".join(lines(quiet, NOW))


def test_evidence_has_numbers_and_intervals():
    one = answer(**FOUND)
    told = dict(line.split(": ", 1) for line in lines(one, NOW))
    assert "6.1x (5.8-6.4)" in told["slowness"]
    assert "6.0x (5.5-6.5)" in told["component"]
    assert "90% (80%-95%)" in told["load"]
    assert "12,000 operations/s of 7 jobs" in told["load"]
    assert "30.0 ms (20.0 ms to 40.0 ms)" in told["remedy"]
    assert "58 of 60 slow windows" in told["host"]


def test_control_letters_of_names_do_not_reach_the_terminal():
    bad = found(load(culprit("47\x1b[31m")))
    one = answer(stretch(whole="/wo\nrk"), load=bad)
    assert all(
        "\x1b" not in text and "\n" not in text for text in (say(one, NOW), *lines(one, NOW))
    )


def test_every_gap_has_a_sentence():
    assert set(REASONS) == set(Gap)
    nan = Ratio(3.0, float("nan"), float("nan"))
    assert "3.0x," in lines(answer(stretch(factor=nan)), NOW)[0]


def test_what_does_not_answer_has_no_factor():
    hang = stretch(kind="hang", factor=None, peak=None, end_ns=BEGIN + 25_000_000_000)
    why = answer(hang, component=found(Parts((SILENT,), ())))
    told = {line.partition(": ")[0]: line for line in lines(why, NOW)}
    assert "did not answer for 25 s" in told["slowness"]
    assert told["component"].startswith("component: /work did not answer, 3 other targets did")
    assert str(int(CEILING)) not in " ".join(told.values())
