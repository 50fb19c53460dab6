"""docs/running.md against the agent and the files in deploy/."""

import re
import subprocess
from pathlib import Path

import pytest

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
