"""Six agents on one store that is sealed, merged and read meanwhile; some are killed. Long: benchmark fleet."""

from benchmarks.soak.fleet import fleet


def test_no_sample_of_a_fleet_is_lost_or_twice_whoever_is_killed():
    found = fleet(agents=6, seconds=15, kill_every_s=4, period_ms=500)
    assert found.problems == []
    assert found.kills >= 2
    assert found.merged >= 4
    assert found.rows > 6 * 6 * 15
