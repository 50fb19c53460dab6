"""Questions that hang, break, die and never end."""

from __future__ import annotations

import os
import time
from pathlib import Path

from iosonde.doctor.finding import Findings
from iosonde.doctor.judge.target import judge_answer
from iosonde.host import child as expendable
from iosonde.host.mounts import mount_of
from tests.kit.harness import wait_for
from tests.kit.host.doctor_makers import MOUNTS

NAP_S = 60.0


def sleeps(report):
    report.found(before=1)
    report.trying("to sleep")
    time.sleep(NAP_S)


def breaks(report):
    raise ValueError("no such luck")


def killed(report):
    report.trying("to live")
    os.kill(os.getpid(), 9)


def has_ended(pid):
    """Whether a process is gone, or waits to be collected only."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_children_that_answer_hang_break_and_die():
    questions = {
        "quick": lambda report: report.found(answer=[1, "é" * 100_000]),
        "hang": sleeps,
        "break": breaks,
        "die": killed,
    }
    replies = expendable.ask_all(questions, 0.5)
    assert replies["quick"].facts == {"answer": [1, "é" * 100_000]}
    assert replies["quick"].hang is replies["quick"].error is None
    hang = replies["hang"].hang
    assert hang.trying == "to sleep"
    assert 0.5 <= hang.seconds < NAP_S
    assert replies["hang"].facts == {"before": 1}
    assert replies["break"].error == "ValueError: no such luck"
    assert "to live" in replies["die"].error
    wait_for("its end", lambda: has_ended(hang.pid))
    found = Findings("t")
    assert not judge_answer(found, replies["hang"], mount_of(MOUNTS, "/work"))
    assert "does not answer (lustre from" in found.all[0].says
    assert found.all[0].found["trying"] == "to sleep"


def test_a_child_that_never_stops_talking_is_not_believed_for_ever(monkeypatch):
    def talks(report):
        while True:
            report.found(answer="x" * 60_000)

    monkeypatch.setattr(expendable, "MAX_BYTES", 1 << 20)
    reply = expendable.ask(talks, 30)
    assert reply.error
    assert reply.hang is None
