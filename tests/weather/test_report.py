"""A report as data, in words, and as a page that holds against hostile names."""

from __future__ import annotations

import re
from datetime import UTC
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.cli.main import main
from iosonde.drawing.style import RAMP_AT
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.report.heat import heat_table, level_of
from iosonde.weather.report.heats import WINDOW_NS
from iosonde.weather.report.html import EventRow, Section, page
from iosonde.weather.report.report import reports
from iosonde.weather.report.words import report_words
from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND, row, sealed
from tests.weather.events.test_events import line, write

HOUR = 3600
DAY = 24 * HOUR
MONDAY = 1_791_763_200 * SECOND
"""2026-10-12 00:00 UTC; on the 25th summer time ends in Berlin."""
HOSTILE = '/w"><script>alert(1)</script>&amp;'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Three days of two ops; Tuesday's 02:00-05:00 slow, Wednesday's 10:00-12:00 missing."""
    root = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(9)
    slow = [Trouble("data_read", DAY + 2 * HOUR, DAY + 5 * HOUR, 4.0)]
    silent = [(2 * DAY + 10 * HOUR, 2 * DAY + 12 * HOUR)]
    made(
        root,
        rng,
        MONDAY,
        3 * DAY,
        slow,
        period_s=20,
        silent=silent,
        failed=0.01,
        ops=("data_read", "md_stat"),
    )
    return Store(root)


def asked(since=0, until=3 * DAY, **changes):
    return SlowdownQuery(
        since_ns=MONDAY + since * SECOND, until_ns=MONDAY + until * SECOND, **changes
    )


def test_a_week_as_data(store):
    (report,) = reports(store, asked(), UTC)
    heats = {heat.op: heat for heat in report.heats}
    reads = heats["data_read"]
    assert reads.by == "date"
    assert reads.rows == ("2026-10-12", "2026-10-13", "2026-10-14")
    assert np.flatnonzero(reads.value[1] > 3).tolist() == [2, 3, 4]
    assert reads.value[1, 2:5] == pytest.approx(4.0, rel=0.1)
    for heat in heats.values():
        assert np.isnan(heat.value[2, 10:12]).all()
        assert (heat.windows[2, 10:12] == 0).all()
        assert np.isnan(heat.value[0, 0]) or heat.windows[0, 0] == 1, "an hour is learned from"
        known = ~np.isnan(heat.value)
        assert (heat.windows[known] > 0).all()
        assert heat.windows.sum() == 3 * 144 - 12 - 6
    assert report.known_ns == (3 * 24 - 2) * HOUR * SECOND
    for tally in report.tallies:
        (ok,) = [u for u in report.usual if u.key.op == tally.op]
        assert tally.n_due == store.count(ops=(tally.op,))
        assert tally.n_lost == tally.n_due - ok.n
    (reads,) = [tally for tally in report.tallies if tally.op == "data_read"]
    assert reads.moved_bytes == (reads.n_due - reads.n_lost) * 1_048_576
    assert reads.caches == {"direct": reads.n_due - reads.n_lost}


def test_lost_are_those_held_up_skipped_failed_or_open_but_not_those_shed(tmp_path):
    rows = [
        row(MONDAY, 3 * SECOND // 2),
        row(MONDAY + SECOND, 1000, began_ns=MONDAY + SECOND + 100_000_001),
        row(MONDAY + 2 * SECOND, 1000, outcome="EIO"),
        row(MONDAY + 3 * SECOND, 1000, began_ns=None, outcome="skipped"),
        row(MONDAY + 4 * SECOND, None),
        row(MONDAY + 5 * SECOND, None, began_ns=None, outcome="shed"),
    ]
    sealed(tmp_path, "r-0", rows, MONDAY)
    tally = Store(tmp_path).tally()
    assert (int(tally["n_due"][0]), int(tally["n_lost"][0]), int(tally["n_begun"][0])) == (5, 4, 4)


def test_rows_follow_the_length_and_the_reader_s_time(store):
    (day,) = reports(store, asked(DAY, 2 * DAY), UTC)
    heat = day.heats[0]
    assert (heat.by, heat.rows) == ("minute", ("0", "10", "20", "30", "40", "50"))
    assert heat.windows.sum() == 144
    assert (heat.value[:, 2:5] > 3).all()
    (month,) = reports(store, asked(0, 30 * DAY), ZoneInfo("Asia/Tokyo"))
    heat = month.heats[0]
    assert (heat.by, len(heat.rows)) == ("weekday", 7)
    assert np.flatnonzero(heat.value[1] > 3).tolist() == [11, 12, 13], "nine hours ahead"
    assert np.isnan(heat.value[4]).all()
    (berlin,) = reports(store, asked(0, 9 * DAY), ZoneInfo("Europe/Berlin"))
    assert berlin.heats[0].rows[0] == "2026-10-12"
    assert len(berlin.heats[0].rows) == 10


def test_the_sentences(store):
    (report,) = reports(store, asked(), UTC)
    words = report_words(report, UTC)
    assert re.match(
        r"reads on /work were (3\.[89]|4\.\d)x slower than usual \(.*\) from 2026-10-13 02:0\d to 05:\d\d",
        words["headline"],
    )
    assert words["watched"] == "watched for 2 d 22 h of 3 d, every 20s from login2; no data for 2 h"
    assert re.match(r"(0\.9\d?|1|1\.\d)% of 25,200 operations were late", words["lost"])
    assert "12," in words["cost"] or "25,200 operations (0.1 a second)" in words["cost"]
    assert words["cost"].endswith("no probe budget was set")
    (quiet,) = reports(store, asked(6 * HOUR, 20 * HOUR), UTC)
    assert re.match(
        r"/work was as usual: the slowest 10 minutes, of \w+, were at 1\.\dx",
        report_words(quiet, UTC)["headline"],
    )
    (young,) = reports(store, asked(0, HOUR // 2), UTC)
    assert re.search(r"learned from|no verdict yet", report_words(young, UTC)["headline"])


def test_a_missing_cell_is_hatched_and_a_known_one_has_its_colour(store):
    (report,) = reports(store, asked(), UTC)
    html = heat_table(report.heats[0])
    assert html.count('class="na"') == np.count_nonzero(np.isnan(report.heats[0].value))
    assert 'title="Wed 10-14 10:00: no data"' in html
    assert (
        len(
            re.findall(
                r'class="h[2345]" title="Tue 10-13 0[234]:00: [34]\.\dx, 6 windows of 10 min"', html
            )
        )
        >= 1
    )
    assert [level_of(at) for at in (0.2, *RAMP_AT, 900.0)] == [0, 0, 1, 2, 3, 4, 5, 5]


class Tags(HTMLParser):
    """Names of elements and all attributes; whether everything that opens is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text):
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    assert "script" not in tags.seen
    for name, value in tags.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/png"))
    return tags


def test_hostile_names_are_text(tmp_path):
    rng = np.random.default_rng(1)
    made(
        tmp_path,
        rng,
        MONDAY,
        2 * HOUR,
        period_s=10,
        target=HOSTILE,
        host="<b>host",
        ops=("md_stat",),
    )
    (report,) = reports(Store(tmp_path), asked(0, 2 * HOUR), UTC)
    event = EventRow('slow" onclick="x', "<b>now", "1 s", "<script>event</script>")
    section = Section(report, report_words(report, UTC), [event] * 70, ["<u>each</u>"], [])
    text = page(f"{HOSTILE}: report", "<sub>", [section, section], "<made>")
    tags = parsed(text)
    assert not tags.seen & {"b", "u", "sub", "made"}
    assert "and 10 more that are not listed here" in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;") >= 4


def test_the_command_writes_a_page_that_needs_nothing(store, tmp_path, capsys, utc):
    out = tmp_path / "r.html"
    began = MONDAY + (DAY + HOUR) * SECOND
    hang = line(began_ns=began, ended_ns=began + 90 * SECOND, outcome="ok", written_ns=MONDAY)
    write(store.root, hang, month="2026-10")
    span = ["--since", "2026-10-13T00:00", "--until", "2026-10-14T00:00"]
    assert main(["report", "/work", "--store", str(store.root), *span, "-o", str(out)]) == 0
    text = out.read_text()
    parsed(text)
    assert text.count("<svg ") == 8, "four figures in two widths"
    assert "http://www.w3.org" in text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//|url\((?!#)|@import', text)
    assert "prefers-color-scheme:dark" in text
    assert re.search(r"reads on /work were [34]\.\dx slower than usual", text)
    events = text.split("<h3>Events</h3>")[1].split("</table>")[0]
    kinds = re.findall(r'<tr class="(\w+)">', events)
    assert kinds == ["hang", "slow"], "by time; the span of the slow event is not told again"
    assert re.search(r"were [34]\.\dx slower than usual from 2026-10-13 02:00 to 05:00, at", events)
    assert re.search("1 d 23 h [^<]*of history are too short to find daily patterns", text)
    assert "seed 20190620" in text
    assert len(text) < 3_000_000
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert main(["report", "/nowhere", "--store", str(store.root), "-o", str(out)]) == 2
    assert "no probe watches /nowhere" in capsys.readouterr().err
    assert main(["report", "/work", "--store", str(store.root), "--since", "-1s"]) == 1
    assert "there are no samples for this report" in capsys.readouterr().err
    assert WINDOW_NS == 600 * SECOND


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["figure"], "KIND"),
        (["figure", "pie"], "there is no 'pie'"),
        (["figure", "points", "--width", "1"], "1 inches wide cannot be drawn"),
        (["figure", "points", "--phase", "a 14:05-14:06"], "--phase is for phases only"),
        (["figure", "phases", "--phase", "a"], "cannot read the phase 'a'"),
        (["figure", "phases", "--phases", "/nowhere.csv"], "cannot read /nowhere.csv"),
        (["figure", "points", "-o", "x.doc"], "x.doc: a picture cannot be a .doc file"),
        (["report", "-o", "week.pdf"], "a report is a page, not .pdf; expected -o FILE.html"),
        (["figure", "points", "/nowhere"], "no probe watches /nowhere; expected one of /work"),
        (["figure", "points", "--op", "reed"], "there is no operation 'reed'"),
    ],
)
def test_wrong_requests_are_told_what_is_wrong(
    store, arguments, complaint, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    span = (
        ["--since", "2026-10-12T00:00", "--until", "2026-10-12T00:10"] if len(arguments) > 1 else []
    )
    assert main([*arguments, *span, "--store", str(store.root)]) in (1, 2)
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_figures_from_the_command_line(store, capsys, monkeypatch, tmp_path, utc):
    monkeypatch.chdir(tmp_path)
    common = [
        "--store",
        str(store.root),
        "--since",
        "2026-10-13T00:00",
        "--until",
        "2026-10-13T04:00",
    ]
    assert main(["figure", "points", *common, "--width", "4", "--dark"]) == 0
    assert (tmp_path / "iosonde-points.png").stat().st_size > 5_000
    assert "wrote iosonde-points.png; 1,440 operations drawn one by one" in capsys.readouterr().err
    phase = ["--phase", "IOR 01:00-02:00", "--since", "2026-10-13T00:00", "-o", "p.json"]
    assert main(["figure", "phases", "--store", str(store.root), *phase]) == 0
    assert '"name": "IOR"' in (tmp_path / "p.json").read_text()
