"""The same five minutes as LMT recorded them, in SQL, as TimeSeries and as h5lmt: they agree in every cell."""

from __future__ import annotations

from itertools import combinations
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors.lustre import h5lmt, tokio_timeseries
from iosonde.connectors.lustre.lmt import sql as lmt_sql
from tests.kit.records.lmt_files import Got, real

DAY = "lmt/snx11025_2018-01-28"
ZONE = ZoneInfo("America/Los_Angeles")
TOTALS = {
    ("ost", "read_bytes"): 6_347_173_888,
    ("ost", "written_bytes"): 119_037_925_429,
    ("mdt", "opens"): 1_529_078,
    ("mdt", "closes"): 1_512_366,
    ("mdt", "getattrs"): 2_968_372,
}


@pytest.fixture(scope="module")
def forms() -> dict[str, Got]:
    return {
        "sql": Got(lmt_sql, real(f"{DAY}.sqlite3"), ZONE),
        "series": Got(tokio_timeseries, real(f"{DAY}.hdf5")),
        "h5lmt": Got(h5lmt, real(f"{DAY}.h5lmt")),
    }


@pytest.mark.parametrize("form", ["sql", "series", "h5lmt"])
def test_the_totals_are_those_that_are_known(forms, form):
    for (level, metric), total in TOTALS.items():
        block = forms[form].one(level, metric)
        assert block.kind == "delta"
        assert block.value.shape[0] == 60
        assert block.value.sum() == total
        assert (block.step_ns == 5_000_000_000).all()
    assert not forms[form].told


def test_every_cell_that_two_forms_have_is_the_same(forms):
    """Exactly: no tolerance. h5lmt's rates x 5 s are bytes again as each of them is the nearest float64.

    Server names: TimeSeries calls an MDT by its server, h5lmt has no name for it; there is one in each.
    Gauges of the last instant are in two of the forms only.
    """
    compared = 0
    for one, other in combinations(forms, 2):
        for block in forms[one].blocks:
            for twin in forms[other].all(block.level, block.metric):
                common, mine, its = np.intersect1d(block.time_ns, twin.time_ns, return_indices=True)
                assert len(common) == 60 if block.kind == "delta" else len(common) >= 60
                assert twin.system == block.system == "snx11025"
                assert (twin.unit, twin.kind) == (block.unit, block.kind)
                if block.level in ("ost", "oss"):
                    assert twin.components == block.components
                assert np.array_equal(block.step_ns[mine], twin.step_ns[its])
                assert np.array_equal(block.value[mine], twin.value[its]), (
                    one,
                    other,
                    block.metric,
                )
                compared += 1
    # sql-series: 21 metrics less creates; sql-h5lmt: 2 + 2 + 13; series-h5lmt: 2 + 2 + 12
    assert compared == 21 + 17 + 16


def test_cpu_is_that_of_every_instant(forms):
    for form in ("sql", "h5lmt"):
        mds, oss = (forms[form].one(level, "cpu_percent").value for level in ("mds", "oss"))
        assert (len(mds), len(oss)) == (61, 61)
        figures = (mds.mean(), mds.max(), oss.max())
        assert [round(float(f), 3) for f in figures] == [9.493, 16.237, 9.582]
        assert round(float(oss.mean()), 2) == 1.99
    assert forms["series"].one("oss", "cpu_percent").value.max() == pytest.approx(9.582, abs=5e-4)


def test_each_form_says_what_is_doubtful_about_it(forms):
    assert forms["sql"].flags() == {"naive-time"}
    assert forms["series"].flags() == {"wrong-unit"}
    assert forms["h5lmt"].flags() == set()
