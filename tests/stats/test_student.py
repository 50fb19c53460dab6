"""Student's distribution beside SciPy's, from a hundredth of a degree of freedom to twenty thousand."""

import numpy as np
import pytest
from scipy import special

from iosonde.stats.student import student_quantile, student_share


@pytest.mark.parametrize("size", [0.1, 1.0, 4.0, 40.0, 1e6])
def test_shares_are_those_of_scipy(size):
    random = np.random.default_rng(5)
    freedom = np.exp(random.uniform(np.log(0.01), np.log(2e4), 3000))
    t = size * random.standard_normal(3000)
    expected = special.stdtr(freedom, t)
    good = expected > 1e-290
    assert np.allclose(student_share(t, freedom)[good], expected[good], rtol=1e-10, atol=0)


def test_ends_and_what_is_missing():
    found = student_share(np.array([-np.inf, 0.0, np.inf, np.nan]), 3.0)
    assert found[:3].tolist() == [0.0, 0.5, 1.0]
    assert np.isnan(found[3])
    assert student_share(np.zeros((2, 0)), 3.0).shape == (2, 0)


@pytest.mark.parametrize("freedom", [1, 2, 5, 13, 28, 300, 7000])
def test_quantiles_are_those_of_scipy(freedom):
    for p in (1e-9, 0.01, 0.3, 0.5, 0.9, 0.95, 0.999):
        expected = special.stdtrit(freedom, p)
        assert student_quantile(p, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-12)
