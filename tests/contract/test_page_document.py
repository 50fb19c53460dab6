"""docs/page.md says the limits that the page and its server have."""

import re
from pathlib import Path

from iosonde.serve.params import TargetsQuery
from iosonde.serve.status.query import LONGEST_NS
from iosonde.serve.targets import MOST_WHOLE

ROOT = Path(__file__).parents[2]


def test_the_limits_of_the_page_are_those_of_its_code() -> None:
    page = (ROOT / "docs" / "page.md").read_text()
    events = (ROOT / "web" / "pages" / "weather" / "events_beside.ts").read_text()
    most = re.search(r"MOST = (\d+);", events)
    longest = re.search(r"LONGEST = hours\(24 \* (\d+)\);", events)
    assert most
    assert longest
    assert f"at most the last\n{most[1]} of {longest[1]} days" in page
    assert int(longest[1]) * 86_400 * 10**9 < LONGEST_NS, "the server refuses a longer range"
    assert f"there are more than {MOST_WHOLE}" in page
    assert f"more than {MOST_WHOLE} targets" in TargetsQuery.model_fields["brief"].description
