"""docs/running.md against the agent and the files in deploy/."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.prose import const

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / ".venv/bin/iosonde-agent"
PAGE = (ROOT / "docs/running.md").read_text()
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def check(file: Path) -> tuple[int, str]:
    done = subprocess.run(
        [AGENT, "config", "check", file],
        capture_output=True,
        text=True,
        check=False,
        env={"CLUSTER": "north", "SLURMD_NODENAME": "n1"},
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0][:30])
def test_every_example_of_configuration_is_accepted(tmp_path: Path, block: str) -> None:
    alone = tmp_path / "agent.toml"
    alone.write_text(block)
    assert check(alone) == (0, "")


def test_the_examples_work_together_as_drop_ins(tmp_path: Path) -> None:
    first, *others = BLOCKS
    assert len(others) == 2
    file = tmp_path / "agent.toml"
    file.write_text(first)
    (tmp_path / "agent.d").mkdir()
    for number, block in enumerate(others):
        (tmp_path / f"agent.d/{number}.toml").write_text(block)
    assert check(file) == (0, "")
    shown = subprocess.run(
        [AGENT, "config", "show", file],
        capture_output=True,
        text=True,
        check=True,
        env={"CLUSTER": "north", "SLURMD_NODENAME": "n1"},
    ).stdout
    assert 'host = "north-n1"' in shown
    plans = re.findall(r"^# (\S+) at (\S+):", shown, re.MULTILINE)
    assert plans == [
        ("/work", "/work"),
        ("/scratch", "/scratch"),
        ("work/OST0003", "/work"),
        ("work/MDT0001", "/work"),
        ("work/export-a", "/work/on-export-a"),
    ]


def test_files_that_are_named_exist_and_all_of_deploy_is_named() -> None:
    named = set(re.findall(r"deploy/[\w./-]+\w", PAGE))
    missing = [name for name in named if not list(ROOT.glob(f"{name}*"))]
    assert not missing
    scripts = [
        path
        for folder in ("nhc", "motd", "slurm")
        for path in (ROOT / "deploy" / folder).rglob("*")
    ]
    assert {str(path.relative_to(ROOT)) for path in scripts if path.is_file()} <= named


def test_options_that_are_named_exist() -> None:
    scripts = "".join(path.read_text() for path in (ROOT / "deploy").rglob("*") if path.is_file())
    for name in set(re.findall(r"\bIOSONDE_\w+", PAGE)):
        assert name in scripts
    for option in ("-t", "-j", "-f", "-u"):
        assert f"#   {option}  " in scripts


def amount(text: str) -> float:
    """A number of bytes as people read it."""
    number, unit = text.split()
    return float(number.replace(",", "")) * 1024 ** ["MiB", "GiB", "TiB"].index(unit[:3]) * 2**20


def test_the_table_of_many_nodes_follows_from_the_constants(tmp_path: Path) -> None:
    rows = re.findall(r"^\| ([\d,]+) \|(.*)\|$", PAGE, re.MULTILINE)
    nodes = [int(first.replace(",", "")) for first, _ in rows]
    assert nodes == [1, 100, 1000, 10_000]
    file = tmp_path / "agent.toml"
    file.write_text('[[target]]\npath = "/work"\n')
    shown = subprocess.run(
        [AGENT, "config", "check", file], capture_output=True, text=True, check=True
    ).stdout
    ops, rate = map(float, re.search(r"([\d.]+) ops/s, ([\d.]+) MiB/s", shown).groups())
    whole, spread_s = (
        const("config/*.rs", "DIRECT_BYTES"),
        const("config/*.rs", "SERVICE_SPREAD_NS") / 1e9,
    )
    for n, (_, cells) in zip(nodes, rows, strict=True):
        total, ten, hour, files, second, minute = (cell.strip() for cell in cells.split("|"))
        assert amount(total) == pytest.approx(n * whole, rel=0.02)
        if n > 1:
            assert amount(ten) == pytest.approx(n * whole / spread_s, rel=0.03)
            assert amount(hour) == pytest.approx(n * whole / 3600, rel=0.03)
        assert int(files.replace(",", "")) == 1000 * n
        for cell, period_s in ((second, 1), (minute, 60)):
            per_s, bytes_per_s = cell.split(" ops/s, ")
            assert float(per_s.replace(",", "")) == pytest.approx(n * ops / period_s)
            assert amount(bytes_per_s) == pytest.approx(n * rate * 2**20 / period_s, rel=0.15)
