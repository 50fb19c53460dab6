"""What docs/umami.md says of constants is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from iosonde.jobs.umami.diagram import STANDARD
from iosonde.jobs.umami.figure import SIGNS
from iosonde.jobs.umami.quartile import ENOUGH, WHISKERS, Standing

PAGE = (Path(__file__).parents[3] / "docs" / "umami.md").read_text()


def test_the_table_of_words_is_that_of_the_code() -> None:
    found = re.findall(r"^\| ([a-z ]+) \| `(.+?)` \| \w+ \|", PAGE, flags=re.M)
    assert dict(found) == {str(standing): sign for standing, sign in SIGNS.items()}
    assert len(found) == len(Standing)


def test_the_table_of_rows_is_that_of_the_code() -> None:
    lines = re.findall(r"^\| (`[a-z_]+`) \| ?(`[a-z_]+`)? ?\|$", PAGE, flags=re.M)
    rows = tuple(tuple(name.strip("`") for name in line if name) for line in lines)
    assert rows == STANDARD


def test_the_limits_are_those_of_the_code() -> None:
    assert f"fewer than {ENOUGH} other values" in PAGE
    assert f"need {ENOUGH} known values" in PAGE
    assert "whiskers at the {:g}th and {:g}th percentile".format(*WHISKERS) in PAGE
