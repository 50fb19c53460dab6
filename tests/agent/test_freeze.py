"""A frozen file system: the response time is the truth, the hang is visible while it lasts, no tick is lost."""

import subprocess
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.kit import harness
from tests.kit.harness import SECOND

pytestmark = [pytest.mark.service, pytest.mark.measures]

FREEZE_S = 10.0
SPAN_S = 30.0


def truth_ns(due_ns: np.ndarray, frozen_ns: int, thawed_ns: int, usual_ns: float) -> np.ndarray:
    """What a user issuing one operation at each due time would have waited."""
    waits = np.where((due_ns >= frozen_ns) & (due_ns < thawed_ns), thawed_ns - due_ns, 0)
    return waits + usual_ns


def test_freeze_of_ten_seconds(tmp_path: Path) -> None:
    with (
        harness.loop_ext4(tmp_path) as mount,
        harness.running(tmp_path, f'window = "5s"\n{harness.target(mount)}') as agent,
    ):
        began_ns = time.time_ns()
        time.sleep(8)
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        frozen_ns = time.time_ns()
        ages = []
        while time.time_ns() < frozen_ns + FREEZE_S * SECOND:
            # A page that hung with the file system would end in a timeout.
            ages.append(agent.metric("iosonde_op_inflight_seconds", op="md_create"))
            time.sleep(0.5)
        said = harness.run(["now", "--store", agent.store], expect=None).stdout
        subprocess.run(["fsfreeze", "-u", mount], check=True)
        thawed_ns = time.time_ns()
        left_s = SPAN_S - (thawed_ns - began_ns) / SECOND
        time.sleep(max(0.0, left_s))
        ended_ns = time.time_ns()
        assert agent.stop() == 0

    assert "hanging" in said, said
    assert ages[-1] is not None
    assert ages[-1] > FREEZE_S - 2
    assert all(late >= early for early, late in pairwise(ages[2:])), ages

    rows = harness.samples(agent.store)
    span = f"due_ns between {began_ns} and {ended_ns}"
    for op in ("md_create", "data_write"):
        found = rows.execute(
            f"select due_ns, ended_ns - due_ns from samples where op = '{op}' and {span} order by due_ns"
        ).fetchnumpy()
        due_ns, response_ns = (np.asarray(column) for column in found.values())
        usual_ns = float(np.median(response_ns[due_ns < frozen_ns]))
        expected = truth_ns(due_ns, frozen_ns, thawed_ns, usual_ns)
        for q in (0.90, 0.99):
            ours, real = (float(np.quantile(x, q)) for x in (response_ns, expected))
            print(f"{op} q{q:.2f}: response {ours / SECOND:.2f} s, truth {real / SECOND:.2f} s")
            assert ours == pytest.approx(real, rel=0.05)

    gaps = rows.execute(
        "select op, max(gap), min(gap) from (select op, due_ns - lag(due_ns) over "
        "(partition by op order by due_ns) as gap from samples) where gap is not null group by op"
    ).fetchall()
    assert len(gaps) == 6
    for op, longest, shortest in gaps:
        assert longest == pytest.approx(0.1 * SECOND, rel=0.05), f"{op} lost a tick"
        assert shortest == pytest.approx(0.1 * SECOND, rel=0.05), f"{op} has a tick twice"


def test_stopping_during_a_freeze_leaves_a_pending_row(tmp_path: Path) -> None:
    with (
        harness.loop_ext4(tmp_path) as mount,
        harness.running(tmp_path, f'window = "5s"\n{harness.target(mount)}') as agent,
    ):
        harness.wait_for("a few rows", lambda: agent.metric("iosonde_spool_rows_total"))
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        harness.wait_for(
            "a hanging create",
            lambda: (agent.metric("iosonde_op_inflight_seconds", op="md_create") or 0) > 1,
        )
        agent.process.terminate()
        harness.wait_for(
            "the last state", lambda: all(not state["running"] for state in agent.states())
        )
        subprocess.run(["fsfreeze", "-u", mount], check=True)
        agent.process.wait(20)
    pending = harness.samples(agent.store).execute(
        "select count(*) from samples where outcome = 'pending' and op = 'md_create'"
    )
    assert pending.fetchone() == (1,)
