"""Completions and manual pages hold every command and option; bash's and fish's are run in the real shell."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from iosonde.cli.commands import every
from iosonde.cli.completion.completion import FILES, scripts, write
from iosonde.cli.completion.parsers import CommandHelp, command_helps
from iosonde.cli.main import main


@pytest.fixture(scope="module")
def commands() -> list[CommandHelp]:
    return command_helps()


@pytest.fixture(scope="module")
def share(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("share")
    write(root)
    return root


def test_every_command_is_described(commands):
    assert {one.words[0] for one in commands} == {command.name for command in every()}
    words = {one.words for one in commands}
    assert {("bench", "metadata"), ("bench", "nfs"), ("selftest", "nfs")} <= words
    for one in commands:
        assert one.summary, one.words
        assert all(option.help for option in one.options), one.words


def test_bash_has_every_option(commands):
    text = scripts()["bash"](commands)
    for one in commands:
        part = text.partition(f'"{" ".join(one.words)}")\n')[2].partition(";;\n        ")[0]
        offered = re.search(r'options="(.*)"', part)[1].split()
        assert offered == [flag for option in one.options for flag in option.flags], one.words


def test_zsh_has_every_option_and_ends_what_it_begins(commands):
    text = scripts()["zsh"](commands)
    for one in commands:
        name = "_iosonde_" + "_".join(one.words).replace("-", "_")
        body = text.partition(f"{name}() {{\n")[2].partition("\n}\n")[0]
        for flag in (flag for option in one.options for flag in option.flags):
            assert re.search(rf"[{{,')]{re.escape(flag)}[}},'\[]", body), (one.words, flag)
        assert name in text.partition("\n_iosonde() {")[2]
    for opened, closed in (("case ", "esac"), ("if ((", "; fi"), ("() {\n", "\n}\n")):
        assert text.count(opened) == text.count(closed), opened
    assert text.replace("'\\''", "").count("'") % 2 == 0


def test_fish_has_every_option_and_ends_what_it_begins(commands):
    text = scripts()["fish"](commands)
    for one in commands:
        conditions = [f"__fish_seen_subcommand_from {word}" for word in one.words]
        lines = [line for line in text.splitlines() if "; and ".join(conditions) in line]
        for flag in (flag for option in one.options for flag in option.flags):
            spelled = f" -l {flag[2:]} " if flag.startswith("--") else f" -s {flag[1:]} "
            assert any(spelled in line for line in lines), (one.words, flag)
    for line in text.splitlines():
        if line.startswith("complete"):
            assert line.replace("\\'", "").count("'") % 2 == 0, line


def complete(share: Path, line: str, store: Path, cwd: Path) -> list[str]:
    """What bash offers at the end of a line, its words as readline parts them."""
    words = [word for word in re.split(r"(=)| ", line) if word is not None and word]
    words += [""] if line.endswith((" ", "=")) else []
    quoted = " ".join("'" + word + "'" for word in words)
    code = (
        f"source {share / FILES['bash']}; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1));"
        '_iosonde; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "IOSONDE_STORE": str(store)}
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("iosonde no", ["now"]),
        ("iosonde sim", ["simulate"]),
        ("iosonde bench m", ["metadata"]),
        ("iosonde now --fo", ["--format"]),
        ("iosonde now --format ", ["text", "json"]),
        ("iosonde now --format=j", ["json"]),
        ("iosonde bench metadata --ad", ["--adaptive"]),
        ("iosonde bench metadata --order r", ["random"]),
        ("iosonde selftest nfs --ser", ["--service", "--serve"]),
        ("iosonde figure time", ["timeline"]),
        ("iosonde now /scr", ["/scratch-of-a-test"]),
        ("iosonde check ", ["folder", "/scratch-of-a-test", "/work"]),
        ("iosonde now --store f", ["folder"]),
        ("iosonde completion ", ["bash", "zsh", "fish"]),
        ("iosonde nothing --fo", []),
    ],
)
def test_bash_completes(share, tmp_path, line, offered):
    for host, target in (("a", "/work"), ("a", "/scratch-of-a-test"), ("b", "/work")):
        path = tmp_path / "store" / "state" / host / f"{target[1:]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"schema_version":1,"host":"{host}","target":"{target}","path":"/x"}}')
    (tmp_path / "cwd" / "folder").mkdir(parents=True)
    found = complete(share, line, tmp_path / "store", tmp_path / "cwd")
    assert sorted(found) == sorted(offered)


def test_bash_takes_it(share):
    code = f"source {share / FILES['bash']}; complete -p iosonde"
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "complete -F _iosonde iosonde\n"


@pytest.mark.service
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("iosonde no", ["now"]),
        ("iosonde bench m", ["metadata"]),
        ("iosonde now --fo", ["--format"]),
        ("iosonde now --format ", ["json", "text"]),
        ("iosonde selftest nfs --ser", ["--serve", "--service"]),
        ("iosonde now /scr", ["/scratch-of-a-test"]),
    ],
)
@pytest.mark.parametrize("stored", [True, False], ids=["targets", "no store"])
def test_fish_completes(share, tmp_path, line, offered, stored):
    """Beside a file that it must not offer; without a store it offers no target and says nothing on stderr."""
    (tmp_path / "a-file").touch()
    store = tmp_path / "store"
    if stored:
        path = store / "state" / "a" / "x.json"
        path.parent.mkdir(parents=True)
        path.write_text('{"schema_version":1,"host":"a","target":"/scratch-of-a-test","path":"/x"}')
    elif "/scr" in line:
        offered = []
    code = f"source {share / FILES['fish']}; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "IOSONDE_STORE": str(store), "HOME": str(tmp_path)},
    )
    assert done.stderr == ""
    assert sorted(one.partition("\t")[0] for one in done.stdout.splitlines()) == offered


@pytest.mark.service
def test_zsh_reads_the_script(share):
    subprocess.run(["zsh", "-n", str(share / FILES["zsh"])], check=True)


def test_manual_pages_hold_every_option_and_read_without_a_warning(share, commands):
    for one in commands:
        page = share / "man" / "man1" / f"{'-'.join(('iosonde', *one.words))}.1"
        text = page.read_text().replace("\\-", "-")
        for option in one.options:
            assert f"\\fB{option.flags[-1]}\\fR" in text, (one.words, option.flags)
        assert [
            title for title in (".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS") if title not in text
        ] == []
        for line in text.splitlines():
            assert not line.startswith(".") or re.match(
                r"\.(TH|SH|TP|B|BR|I|nf|fi|nh|ad)\b", line
            ), line
    front = (share / "man" / "man1" / "iosonde.1").read_text().replace("\\-", "-")
    assert all(f".BR {'-'.join(('iosonde', *one.words))} (1)" in front for one in commands)


@pytest.mark.service
def test_groff_reads_the_pages(share):
    pages = sorted(map(str, (share / "man" / "man1").iterdir()))
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-z", *pages],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_prints_what_the_files_hold(share, capsys):
    for shell, path in FILES.items():
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == (share / path).read_text()
    assert main(["completion", "csh"]) == 2
    assert "expected one of bash, zsh, fish" in capsys.readouterr().err
