"""The .deb and the .rpm of the agent: built, installed into a root of their own, upgraded, removed, purged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.harness import AGENT, ROOT

pytestmark = pytest.mark.service

PAGES = ("", "-check", "-config", "-config-check", "-config-init", "-config-show", "-now")
FILES = {
    "usr/bin/iosonde-agent",
    "usr/lib/systemd/system/iosonde-agent.service",
    "usr/lib/sysusers.d/iosonde.conf",
    "usr/lib/tmpfiles.d/iosonde.conf",
    "etc/iosonde/agent.toml",
    *(f"usr/share/man/man1/iosonde-agent{page}.1.gz" for page in PAGES),
    "usr/share/bash-completion/completions/iosonde-agent",
    "usr/share/zsh/site-functions/_iosonde-agent",
    "usr/share/fish/vendor_completions.d/iosonde-agent.fish",
    "usr/share/iosonde/motd/90-iosonde",
    "usr/share/iosonde/nhc/iosonde.nhc",
    "usr/share/iosonde/slurm/prolog.d/iosonde.sh",
    "usr/share/iosonde/slurm/taskprolog.sh",
    "usr/share/doc/iosonde-agent/changelog.gz",
    "usr/share/doc/iosonde-agent/copyright",
}


def run(*command: object, **environ: str) -> str:
    """Stdout; stderr is in the error."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Packages of two versions."""
    out = tmp_path_factory.mktemp("packages")
    run(sys.executable, "scripts/manual.py", out / "share")
    for version in ("0.0.1", "0.0.2"):
        run("scripts/packages", AGENT, out / "share", out, VERSION=version)
    return out


class Machine:
    """This machine seen through an overlay: what is installed there is not installed here."""

    def __init__(self, folder: Path, packages: Path) -> None:
        for name in ("upper", "work", "merged"):
            (folder / name).mkdir()
        self.inside = [
            "set -e",
            f"cd {folder}",
            "mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work merged",
            "mount -t proc proc merged/proc",
            "mount --bind /dev merged/dev",
            "mount -t tmpfs run merged/run",
            f"mount --bind {packages} merged/mnt",
            'exec chroot merged env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"',
        ]

    def run(self, *command: object) -> str:
        """Stdout. Its mounts end with it, because it has a mount namespace of its own."""
        return run("unshare", "--mount", "bash", "-c", "\n".join(self.inside), "bash", *command)

    def says(self, script: str) -> list[str]:
        """Lines of a shell script's stdout."""
        return self.run("sh", "-c", script).splitlines()


@pytest.fixture
def machine(tmp_path, built):
    """A machine without the package."""
    return Machine(tmp_path, built)


def test_the_deb_holds_what_a_node_needs(built):
    deb = next(built.glob("*0.0.1*.deb"))
    listed = run("dpkg-deb", "--contents", deb).splitlines()
    held = {line.split()[5].removeprefix("./") for line in listed if not line.startswith("d")}
    assert held == FILES
    assert all(line.split()[1] == "root/root" for line in listed)
    modes = {line.split()[5].removeprefix("./"): line.split()[0] for line in listed}
    assert modes["usr/bin/iosonde-agent"] == "-rwxr-xr-x"
    assert deb.stat().st_size < 4 << 20


def test_lintian_finds_no_error_but_an_address_that_nobody_reads(built):
    deb = next(built.glob("*0.0.1*.deb"))
    found = run("lintian", "--fail-on", "none", "--tag-display-limit", 0, deb).splitlines()
    assert {line.split()[2] for line in found if line.startswith("E:")} == {"bogus-mail-host"}


def test_the_rpm_holds_the_same(built):
    rpm = next(built.glob("*0.0.1*.rpm"))
    query = ["rpm", "--query", "--package", rpm, "--queryformat"]
    listed = run(*query, "[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\\n]").split("\n")[:-1]
    files = {line.split()[2].removeprefix("/") for line in listed if not line.startswith("d")}
    assert files == FILES
    assert {line.split()[1] for line in listed} == {"root"}
    assert run("rpm", "--query", "--package", "--configfiles", rpm) == "/etc/iosonde/agent.toml\n"


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_an_upgrade_and_a_removal_keep_the_store_and_the_configuration(machine, kind):
    deb, rpm = "iosonde-agent_{}_*.deb", "iosonde-agent-{}-1.*.rpm"
    if kind == "deb":
        install = upgrade = f"dpkg --no-triggers --install /mnt/{deb}"
        remove = "dpkg --no-triggers --remove iosonde-agent"
    else:
        install, upgrade = (
            f"rpm --nodeps {option} /mnt/{rpm}" for option in ("--install", "--upgrade")
        )
        remove = "rpm --erase iosonde-agent"
    machine.says(install.format("0.0.1"))
    assert machine.says("stat -c '%U %a' /var/lib/iosonde") == ["iosonde 755"]
    assert machine.says("iosonde-agent config check | head -1") == ["/etc/iosonde/agent.toml: ok"]
    assert machine.says("iosonde-agent check --store /var/lib/iosonde || echo $?")[-1] == "3"
    machine.says("mkdir /var/lib/iosonde/state; echo kept >/var/lib/iosonde/state/note")
    machine.says(
        "echo '# the site' >>/etc/iosonde/agent.toml; echo >/etc/iosonde/agent.d/ours.toml"
    )

    machine.says(upgrade.format("0.0.2"))
    assert machine.says("tail -1 /etc/iosonde/agent.toml") == ["# the site"]
    assert machine.says("cat /var/lib/iosonde/state/note") == ["kept"]
    assert machine.says("test -x /usr/bin/iosonde-agent; ls /etc/iosonde") == [
        "agent.d",
        "agent.toml",
    ]

    machine.says(remove)
    assert machine.says("test ! -e /usr/bin/iosonde-agent && cat /var/lib/iosonde/state/note") == [
        "kept"
    ]
    assert machine.says("cat /etc/iosonde/agent.d/ours.toml") == [""]
    changed = "agent.toml" if kind == "deb" else "agent.toml.rpmsave"
    assert machine.says(f"tail -1 /etc/iosonde/{changed}") == ["# the site"]
    if kind == "deb":
        machine.says("dpkg --no-triggers --purge iosonde-agent")
        assert machine.says("test ! -e /etc/iosonde && cat /var/lib/iosonde/state/note") == ["kept"]
    assert machine.says("id -un iosonde") == ["iosonde"]
    assert subprocess.run(["id", "iosonde"], capture_output=True, check=False).returncode != 0, (
        "not in here"
    )


BOOTED = "mkdir -p /run/systemd/system; export SYSTEMD_IGNORE_CHROOT=1; "
"""Makes package scripts and systemctl believe that systemd is the init. It is not, so every systemctl fails."""


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_an_upgrade_is_whole_whatever_a_script_of_the_package_meets(machine, kind):
    install, upgrade = (
        ("dpkg --no-triggers --install", "dpkg --no-triggers --install")
        if kind == "deb"
        else ("rpm --nodeps --install", "rpm --nodeps --upgrade")
    )
    remove = "dpkg --no-triggers --remove" if kind == "deb" else "rpm --erase"
    state = "dpkg-query -W -f '${Version} ${Status}'" if kind == "deb" else "rpm --query"
    whole = "0.0.2 install ok installed" if kind == "deb" else "iosonde-agent-0.0.2-1.x86_64"
    whole = whole.replace("x86_64", os.uname().machine)
    files = f"/mnt/iosonde-agent[_-]{{}}[_-]*.{kind}"
    machine.says(f"{BOOTED}{install} {files.format('0.0.1')}")
    machine.says(
        "echo 'wrong = 1' >>/etc/iosonde/agent.toml; ln -sf false /usr/bin/systemd-sysusers"
    )
    told = machine.says(f"{BOOTED}{upgrade} {files.format('0.0.2')} 2>&1")
    assert machine.says(f"{state} iosonde-agent") == [whole]
    for words in (
        "'systemd-sysusers iosonde.conf' failed",
        "'systemctl daemon-reload' failed",
        "this version refuses /etc/iosonde/agent.toml",
        "unknown key",
    ):
        assert any(words in line for line in told), (words, told)
    assert not any("try-restart" in line for line in told)
    machine.says(f"{BOOTED}{remove} iosonde-agent 2>&1")
    assert machine.says("test ! -e /usr/bin/iosonde-agent && stat -c %U /var/lib/iosonde") == [
        "iosonde"
    ]


def test_a_service_that_does_not_restart_is_told(machine):
    told = machine.says(f"{BOOTED}dpkg --no-triggers --install /mnt/iosonde-agent_0.0.1_*.deb 2>&1")
    assert any("try-restart iosonde-agent.service' failed" in line for line in told), told
    assert machine.says("dpkg-query -W -f '${Status}' iosonde-agent") == ["install ok installed"]


def test_the_manual_pages_read_without_a_complaint(built):
    for page in PAGES:
        file = built / f"share/man/man1/iosonde-agent{page}.1"
        text = run("sh", "-c", f"groff -man -Tascii -P-cbou -ww {file} 2>&1")
        assert f"iosonde-agent{page} " in text.partition("SYNOPSIS")[0]
        assert "warning:" not in text
        assert "error:" not in text
