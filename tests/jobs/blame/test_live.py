"""Three loads in three control groups of this machine, a live probe beside them: the hog is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.cli.main import main
from iosonde.jobs.attribution.culprits import LIMITS, Confidence
from tests.kit.jobs.job_loads import Load, jobs

pytestmark = pytest.mark.measures
SCRIPT = Path(__file__).parents[3] / "deploy" / "record-jobs"
LASTS_S, HOG_S, WARM_S = 36.0, 5.0, 5.0
"""The hog is short beside the whole: of some ninety slots, one that fits by chance leaves p <= 0.03."""
KIB = 1024
HOGS = 16


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with what a probe and the recorder saw, and when the hog (job 3) worked."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "data").mkdir()
    (folder / "probed").mkdir()
    begin = time.time() + WARM_S
    last, on = begin + LASTS_S, begin + 0.5 * LASTS_S
    loads = {
        "1": [Load(4 * KIB, 20, 0, last)],
        "2": [Load(64 * KIB, 30, begin + 6 * i, begin + 6 * i + 3) for i in range(6)],
        "3": [Load(4096 * KIB, 0, on, on + HOG_S)] * HOGS,
    }
    store = str(folder / "store")
    probe = [
        sys.executable,
        "-m",
        "iosonde.cli.main",
        "probe",
        str(folder / "probed"),
        "--store",
        store,
    ]
    probe += [
        "--period",
        "100ms",
        "--file-size",
        "32MiB",
        "--pool",
        "50",
        "--duration",
        f"{LASTS_S:.0f}s",
    ]
    with jobs(folder / "data", loads, last) as groups:
        environment = os.environ | {"IOSONDE_CGROUPS": str(groups), "IOSONDE_NODE": "n1"}
        record = [str(SCRIPT), str(folder / "records"), "0.25"]
        recorder = subprocess.Popen(record, env=environment)
        try:
            subprocess.run(probe, check=True, capture_output=True, timeout=LASTS_S + 60)
        finally:
            recorder.terminate()
            recorder.wait()
    assert main(["import", str(folder / "records"), "--store", store]) == 0
    return store, str(folder / "probed"), (on, on + HOG_S)


def test_the_hog_is_named(measured, capsys):
    store, target, (on, off) = measured
    capsys.readouterr()
    span = ["--since", f"@{on:.3f}", "--until", f"@{off:.3f}"]
    assert main(["blame", target, *span, "--store", store, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first = found["ranked"][0]
    assert first["who"] == "3"
    assert first["share"] > 0.5, "operations of direct writes that ended"
    assert found["interval"]["slowdown"] > 1.5, "the probe saw the hog"
    # On a busy host the probe's own noise hides the hog: a weaker word is right then, and only then.
    said, fit = first["slowdown"], found["fit"]
    least, steady, match, chance = LIMITS[Confidence.PROBABLE]
    clear = (
        said is not None
        and said["stability"] >= steady
        and fit["r2"] >= match
        and fit["p"] <= chance
    )
    clear = clear and min(said["share"], said["lower"]) >= least
    clear = clear and not said["follows"] and not said["alike"]
    strong = said is not None and said["confidence"] != Confidence.ACTIVE
    assert strong == clear, (said, fit)
    assert "job 3 " in found["verdict"], "the load is named however noisy the host is"


def test_nobody_is_accused_of_the_time_before(measured, capsys):
    store, target, (on, _) = measured
    capsys.readouterr()
    span = ["--since", f"@{on - 13:.3f}", "--until", f"@{on - 3:.3f}"]
    assert main(["blame", target, *span, "--store", store, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not any(
        one["slowdown"] and one["slowdown"]["confidence"] == "caused most of it"
        for one in found["ranked"]
    )
