"""Reports of iostat: amounts of steps, whatever its version, locale and layout."""

import random
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.disks import iostat, iostat_json
from iosonde.connectors.source import head_of
from iosonde.connectors.sources import refusal
from tests.kit.records.connected import Out, survives, take
from tests.kit.records.disk_texts import (
    BEGIN_S,
    HOST,
    IOSTAT_11,
    IOSTAT_C,
    IOSTAT_ISO,
    IOSTAT_JSON,
)

S = 1_000_000_000
VDA = f"{HOST}/vda"
BERLIN = ZoneInfo("Europe/Berlin")


def of(text: str, folder: Path, **said: object) -> Out:
    path = folder / "log"
    path.write_text(text)
    connector = iostat_json if text.startswith("{") else iostat
    assert connector.recognises(head_of(path))
    return take(connector, path, **said)


@pytest.mark.parametrize("text", [IOSTAT_C, IOSTAT_ISO, IOSTAT_JSON])
def test_what_iostat_printed(text: str, tmp_path: Path) -> None:
    out = of(text, tmp_path, zone=UTC)
    assert not out.told
    times = [(at, step) for at, step, _ in out.series("read_ops", VDA, level="device")]
    assert times == [((BEGIN_S + n) * S, 2 * S) for n in (0, 2)]
    assert out.flags()["left-out"] == 1  # the report since the start of the machine


def test_each_column(tmp_path: Path) -> None:
    out = of(IOSTAT_11, tmp_path, zone=UTC)
    amounts = {
        "read_ops": 200, "write_ops": 100, "read_bytes": 3200 * 1024, "written_bytes": 1600 * 1024,
        "read_execution_s": 200 * 0.008, "write_execution_s": 100 * 0.005,
        "execution_s": 2.1, "io_time_s": 0.6,
    }  # fmt: skip
    for metric, value in amounts.items():
        assert out.series(metric, f"{HOST}/sda") == [(BEGIN_S * S, 10 * S, pytest.approx(value))]
    assert {block.metric for block in out.blocks} == set(amounts)


def test_text_and_json_say_the_same(tmp_path: Path) -> None:
    first, second = (of(text, tmp_path, zone=UTC) for text in (IOSTAT_ISO, IOSTAT_JSON))
    for metric in {block.metric for block in first.blocks}:
        # They ran beside each other: the same machine and seconds, not the same instant.
        mine, theirs = (out.series(metric, VDA) for out in (first, second))
        assert [row[:2] for row in mine] == [row[:2] for row in theirs]


PRETTY = f"""Linux 6.1 ({HOST}) 	11/28/26 	_x86_64_	(2 CPU)

11/28/26 13:39:35
     r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz Device
  101.46      2.44     5.25   4.92    2.60    24.65 vda

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
   99.22      7.7M    30.06  23.3%    1.46    79.3k vda

     f/s f_await  aqu-sz  %util Device
   15.29    0.83    0.43   4.3% vda


11/28/26 13:39:37
     r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz Device
   12.00      0.50     0.00   0.00    0.25     4.00 vda

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
    1.00      2.5M     0.00   0.0%    1.00     4.0k vda

     f/s f_await  aqu-sz  %util Device
    0.00    0.00    0.02   2.4% vda
"""


def test_layouts_for_people(tmp_path: Path) -> None:
    out = of(PRETTY, tmp_path, zone=UTC)
    assert not out.told
    assert out.values("read_ops", VDA) == [24]
    assert out.values("read_bytes", VDA) == [2**20]
    assert out.values("written_bytes", VDA) == [5 * 2**20]
    assert out.values("io_time_s", VDA) == pytest.approx([0.048])


def test_a_run_that_begins_anew_begins_with_a_mean_since_the_start(tmp_path: Path) -> None:
    later = IOSTAT_ISO.replace("T13:", "T14:")
    out = of(IOSTAT_ISO + "\n" + later, tmp_path)
    times = [at // S - BEGIN_S for at, _, _ in out.series("read_ops", VDA)]
    assert times == [0, 2, 3600, 3602]
    assert out.flags()["left-out"] == 2


def test_without_times_nothing_is_made_up(tmp_path: Path) -> None:
    text = "".join(line for line in IOSTAT_C.splitlines(True) if not line.startswith("11/"))
    out = of(text, tmp_path)
    assert not out.blocks
    assert "have no time" in out.told[0]
    assert "iostat -x -t" in out.told[0]


@pytest.mark.parametrize("bad", ["nan", "-1.00", "1e999", "x", "99999999999999999"])
@pytest.mark.parametrize("text", [IOSTAT_C, IOSTAT_JSON])
def test_a_bad_number_costs_its_disk_of_one_report(text: str, bad: str, tmp_path: Path) -> None:
    lines = text.splitlines(True)
    rows = [n for n, line in enumerate(lines) if "vda" in line]
    row = rows[1]
    old = (
        lines[row].split()[1] if text is IOSTAT_C else lines[row].split('"r/s": ')[1].split(",")[0]
    )
    new = bad if text is IOSTAT_C else f'"{bad}"'
    lines[row] = lines[row].replace(old, new, 1)
    out = of("".join(lines), tmp_path, zone=UTC)
    assert f"line {row + 1}" in out.told[0]
    assert len(out.told) == 1
    assert len(out.values("read_ops", VDA)) == 1
    assert len(out.values("read_ops", f"{HOST}/loop4")) == 2


def test_a_row_that_is_cut(tmp_path: Path) -> None:
    for text in (IOSTAT_C, IOSTAT_JSON[: IOSTAT_JSON.rindex('"util"')]):
        out = of(text.rstrip()[:-1], tmp_path)
        assert len(out.values("read_ops", VDA)) == 1, out.told
        assert len(out.told) == 1


def test_json_in_one_line(tmp_path: Path) -> None:
    packed = "".join(IOSTAT_JSON.split())
    assert of(packed, tmp_path).series("read_ops", VDA) == of(IOSTAT_JSON, tmp_path).series(
        "read_ops", VDA
    )


def test_the_host_is_the_one_that_was_said(tmp_path: Path) -> None:
    assert of(IOSTAT_C, tmp_path, node="n7").values("read_ops", "n7/vda")


@pytest.mark.parametrize(
    "text", ["31/31/26 13:32:25", "11/08/26 25:00:00", "11/08/2026 13:32:25 PM"]
)
def test_times_that_are_not(text: str, tmp_path: Path) -> None:
    out = of(IOSTAT_C.replace("11/28/26 13:39:37", text), tmp_path)
    assert "cannot be" in out.told[0]
    assert "line 12" in out.told[0]
    assert not out.blocks  # the step of the report behind it is unknown


def test_another_date_of_the_file_tells_the_day(tmp_path: Path) -> None:
    def log(*dates: str) -> str:
        text = IOSTAT_C
        for old, new in zip(("39:35", "39:37", "39:39"), dates, strict=True):
            text = text.replace(f"11/28/26 13:{old}", new)
        return text

    british = log("12/11/26 23:59:58", "12/11/26 23:59:59", "13/11/26 00:00:00")
    out = of(british, tmp_path, zone=UTC)
    begin = datetime(2026, 11, 12, 23, 59, 58, tzinfo=UTC).timestamp() * S
    assert [at for at, _, _ in out.series("read_ops", VDA)] == [begin, begin + S]
    assert not any(isinstance(item, str) for item in out.items)
    unclear = log("12/11/26 10:00:00", "12/11/26 10:00:02", "12/11/26 10:00:04")
    out = of(unclear, tmp_path, zone=UTC)
    begin = datetime(2026, 12, 11, 10, tzinfo=UTC).timestamp() * S
    assert [at for at, _, _ in out.series("read_ops", VDA)] == [begin, begin + 2 * S]
    assert [item for item in out.items if isinstance(item, str)] == [iostat.GUESSED]


def test_an_hour_that_occurs_twice_goes_on(tmp_path: Path) -> None:
    text = IOSTAT_C.replace("11/28/26 13:39:35", "25.10.2026 02:59:58")
    text = text.replace("11/28/26 13:39:37", "25.10.2026 02:00:00")
    out = of(text.replace("11/28/26 13:39:39", "25.10.2026 02:00:02"), tmp_path, zone=BERLIN)
    assert [step for _, step, _ in out.series("read_ops", VDA)] == [2 * S, 2 * S]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Device             tps    kB_read/s    kB_wrtn/s\nvda  1.00 2.00 3.00\n", "without -x"),
        ("13:32:34          DEV       tps     rkB/s     wkB/s\n", "sar -d"),
    ],
)
def test_what_is_refused_is_named(text: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("Linux 6.1 (n001) \t11/28/26 \t_x86_64_\t(2 CPU)\n\n" + text)
    assert not iostat.recognises(head_of(path))
    assert word in str(refusal(path))
    assert "iostat -x -t" in str(refusal(path))


def report(at_s: int, reads: float, wait_ms: float, busy: float) -> str:
    text = datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")
    head = "Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util"
    return f"{text}\n{head}\nsda {reads:.2f} 4.00 {wait_ms:.2f} 0.00 0.00 0.00 0.10 {busy:.2f}\n\n"


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(1, 600),
            st.floats(0, 1e5),
            st.floats(0, 1e4),
            st.floats(0, 100),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_rates_in_are_amounts_out(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, float, float, float]]
) -> None:
    """Over any intervals: number and mean as they were printed."""
    at, text = BEGIN_S, f"Linux 6.1 ({HOST}) \t2026-11-28\n\n{report(BEGIN_S, 1, 1, 1)}"
    for step, reads, wait, busy in rows:
        at += step
        text += report(at, reads, wait, busy)
    path = tmp_path_factory.mktemp("rates") / "log"
    path.write_text(text)
    out = take(iostat, path)
    ops = out.values("read_ops", f"{HOST}/sda")
    times = out.values("read_execution_s", f"{HOST}/sda")
    assert ops == pytest.approx([step * float(f"{reads:.2f}") for step, reads, _, _ in rows])
    for (_, _, wait, _), n, took in zip(rows, ops, times, strict=True):
        assert took == pytest.approx(n * float(f"{wait:.2f}") / 1000)


@pytest.mark.parametrize("text", [IOSTAT_C, IOSTAT_ISO, IOSTAT_11, PRETTY])
def test_fuzz(text: str, tmp_path: Path) -> None:
    survives(iostat, tmp_path / "log", text.encode())


def test_fuzz_json(tmp_path: Path) -> None:
    survives(iostat_json, tmp_path / "log", IOSTAT_JSON.encode())
    lines = IOSTAT_JSON.splitlines(True)
    random.Random(7).shuffle(lines)
    survives(iostat_json, tmp_path / "log", "".join(lines).encode())
