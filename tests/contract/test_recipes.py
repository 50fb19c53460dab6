"""Recipes under deploy/ against the tree, the parsers and the agent: what they name exists, so that they cannot rot."""

from __future__ import annotations

import json
import os
import py_compile
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from iosonde.cli.completion.parsers import command_helps
from tests.kit.harness import AGENT, IOSONDE, ROOT
from tests.kit.samples.makers import simulated

DEPLOY = ROOT / "deploy"
CONTAINER = DEPLOY / "container/Containerfile"
KUBERNETES = DEPLOY / "kubernetes/iosonde.yaml"
SPACK = DEPLOY / "spack/spack_repo/iosonde/packages/iosonde/package.py"
APPTAINER = DEPLOY / "apptainer/iosonde.def"
SBATCH, SCRONTAB = DEPLOY / "slurm/agents.sbatch", DEPLOY / "slurm/iosonde.scrontab"
PACKAGE = DEPLOY / "package/nfpm.yaml"
RECIPES = [CONTAINER, KUBERNETES, SPACK, APPTAINER, SBATCH, SCRONTAB]
COMMAND = re.compile(r"(?<![\w./$-])(iosonde(?:-agent)?) ((?:[a-z]+ )?[^`;|\n]*)")
"""A line that starts one of ours."""


def agent_flags(*words: str) -> set[str]:
    """Options of the agent or of one of its subcommands."""
    done = subprocess.run([AGENT, *words, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout))


def python_flags(*words: str) -> set[str]:
    """Options of a command of ``iosonde``."""
    (found,) = [one for one in command_helps() if one.words == words]
    return {flag for option in found.options for flag in option.flags}


def commands(text: str) -> list[list[str]]:
    """Words of each command of ours in a recipe, comments included."""
    found = [[match[1], *match[2].split()] for match in COMMAND.finditer(text)]
    return [words for words in found if any(re.match(r"--?\w", word) for word in words[1:])]


@pytest.mark.parametrize("recipe", [SBATCH, SCRONTAB, APPTAINER], ids=lambda file: file.name)
def test_commands_of_a_recipe_have_their_options(recipe: Path) -> None:
    found = commands(
        recipe.read_text().replace('"${IOSONDE_AGENT:-iosonde-agent}"', "iosonde-agent")
    )
    assert found
    words_of = {one.words for one in command_helps()}
    names = {words[0] for words in words_of}
    for program, first, *others in found:
        options = [word for word in (first, *others) if re.match(r"--?\w", word)]
        if program == "iosonde-agent":
            known = agent_flags(*([first] if first in ("now", "check", "config") else []))
        elif (first, *others[:1]) in words_of:
            known = python_flags(first, others[0])
        elif first in names:
            known = python_flags(first)
        else:
            known = {"--version", "--help"}
        assert set(options) <= known, (program, first)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda file: file.name)
def test_a_recipe_says_how_to_install_it(recipe: Path) -> None:
    head = recipe.read_text()[:900]
    assert "Install:" in head
    if recipe != SPACK:
        assert "Costs:" in head


def stages(text: str) -> dict[str, str]:
    """Name -> instructions of each stage of a container recipe."""
    parts = re.split(r"^FROM \S+ AS (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_container_copies_what_stages_make() -> None:
    text = CONTAINER.read_text()
    found = stages(text)
    assert set(re.findall(r"--from=(\w+)", text)) <= set(found)
    assert set(re.findall(r"--target (\w+)", text)) == {"agent", "iosonde"} <= set(found)
    makefile = (ROOT / "Makefile").read_text()
    page = re.search(r"^PAGE\s*:= (\S+)$", makefile, re.MULTILINE)
    assert page is not None
    assert f"make -o {page[1]} wheel" in found["build"]
    assert re.search(r"^wheel:", makefile, re.MULTILINE)
    assert f"/src/{Path(page[1]).parent} {Path(page[1]).parent}" in found["build"]
    assert "install -m 755 $(STATIC) $@" in makefile
    assert "--out dist" in makefile
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", found["agent"], re.MULTILINE)[1])
    options = json.loads(re.search(r"^CMD (.*)$", found["agent"], re.MULTILINE)[1])
    assert entry == ["/usr/bin/iosonde-agent"]
    assert set(options[::2]) <= agent_flags()
    name, *options = json.loads(re.search(r"^CMD (.*)$", found["iosonde"], re.MULTILINE)[1])
    assert set(options[::2]) <= python_flags(name)


def test_compilers_of_recipes_are_new_enough() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    image = re.search(r"^FROM rust:([\d.]+)-\w+@", CONTAINER.read_text(), re.MULTILINE)[1]
    assert [int(part) for part in image.split(".")] >= [int(part) for part in cargo.split(".")]
    assert f'"rust@{cargo}:"' in SPACK.read_text()


def test_spack_depends_on_what_the_project_depends_on(tmp_path: Path) -> None:
    py_compile.compile(str(SPACK), cfile=str(tmp_path / "package.pyc"), doraise=True)
    text = SPACK.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["mpi"]
    named = dict(re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):[\d.]*"', text))
    assert named.pop("maturin") in project["build-system"]["requires"][0]
    assert named == dict(need.split(">=") for need in needed)
    assert f'"python@{project["project"]["requires-python"].removeprefix(">=")}:"' in text
    repository = yaml.safe_load((SPACK.parents[2] / "repo.yaml").read_text())["repo"]
    assert repository["namespace"] == SPACK.parents[2].name


def test_images_are_named_by_digests_that_the_builder_gives() -> None:
    text = CONTAINER.read_text()
    bases = re.findall(r"^FROM (?!scratch)(\S+)", text, re.MULTILINE)
    given = [re.fullmatch(r"[a-z]+:[\w.-]+@\$\{([A-Z]+)\}", base)[1] for base in bases]
    assert given == re.findall(r"^ARG ([A-Z]+)$", text, re.MULTILINE)
    assert all(f"--build-arg {name}=sha256:" in text[:1200] for name in given)
    apptainer = APPTAINER.read_text()
    name = re.search(r"^From: [a-z]+:[\w.-]+@\{\{([A-Z]+)\}\}$", apptainer, re.MULTILINE)[1]
    assert f"--build-arg {name}=sha256:" in apptainer
    image = re.search(r"^ +image: (\S+)$", KUBERNETES.read_text(), re.MULTILINE)[1]
    assert f"s|{image}|registry.example.org/iosonde-agent@sha256:" in KUBERNETES.read_text()


def test_what_is_installed_is_pinned_by_hash() -> None:
    """In the locks each requirement has hashes; whoever installs from them asks for these."""
    locks = {name: (ROOT / f"requirements{name}.lock").read_text() for name in ("", "-run", "-uv")}
    pins = {}
    for name, text in locks.items():
        parts = re.split(r"\n(?=\S)", text.strip())
        assert all(re.search(r"^\S+==\S+.*\n +--hash=sha256:", part) for part in parts), name
        pins[name] = {part.partition(" \\")[0] for part in parts}
    assert pins["-run"] < pins[""]
    assert len(pins["-uv"]) == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    named = {pin.partition("==")[0] for pin in pins["-run"]}
    assert {need.partition(">=")[0] for need in project} <= named
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    for text in (makefile, CONTAINER.read_text().replace("\\\n", " "), APPTAINER.read_text()):
        installs = re.findall(r"pip (?:--\S+ )*install (.*)", text)
        assert installs
        assert all("--require-hashes" in one or "--no-deps" in one for one in installs), installs


def test_apptainer_has_its_sections() -> None:
    text = APPTAINER.read_text()
    assert re.findall(r"^%(\w+)$", text, re.MULTILINE) == ["files", "post", "runscript", "test"]
    assert re.search(r"^Bootstrap: docker\nFrom: \S+$", text, re.MULTILINE)


def checked(config: Path, **environ: str) -> str:
    """What ``config check`` prints of a configuration that is right."""
    environ = {"PATH": os.environ["PATH"], **environ}
    done = subprocess.run(
        [AGENT, "config", "check", config], capture_output=True, text=True, check=False, env=environ
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_kubernetes_starts_an_agent_that_its_service_and_probes_reach(tmp_path: Path) -> None:
    config, daemon, service = list(yaml.safe_load_all(KUBERNETES.read_text()))
    assert [one["kind"] for one in (config, daemon, service)] == [
        "ConfigMap",
        "DaemonSet",
        "Service",
    ]
    labels = daemon["spec"]["template"]["metadata"]["labels"]
    assert daemon["spec"]["selector"]["matchLabels"] == labels == service["spec"]["selector"]
    pod = daemon["spec"]["template"]["spec"]
    (agent,) = pod["containers"]
    environ = {one["name"]: "n1" for one in agent["env"]}
    for name, text in config["data"].items():
        (tmp_path / name).write_text(text)
    mounts = {one["mountPath"]: one["name"] for one in agent["volumeMounts"]}
    assert set(mounts.values()) == {one["name"] for one in pod["volumes"]}
    option, file = agent["args"]
    assert option in agent_flags()
    assert mounts[str(Path(file).parent)] == "config"
    assert "/work" in checked(tmp_path / Path(file).name, **environ)
    settings = tomllib.loads((tmp_path / Path(file).name).read_text())
    port = int(settings["listen"].rpartition(":")[2])
    assert settings["store"] in mounts
    assert {target["path"] for target in settings["target"]} <= set(mounts)
    assert agent["ports"][0]["containerPort"] == port == service["spec"]["ports"][0]["port"]
    annotations = daemon["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(port)
    answers = (ROOT / "rust/agent/src/http/answer.rs").read_text()
    for path in (
        annotations["prometheus.io/path"],
        agent["livenessProbe"]["httpGet"]["path"],
        agent["readinessProbe"]["httpGet"]["path"],
    ):
        assert f'"{path}"' in answers
    user = re.search(r"^USER (\d+):(\d+)$", stages(CONTAINER.read_text())["agent"], re.MULTILINE)
    assert [pod["securityContext"][f"runAs{who}"] for who in ("User", "Group")] == [
        int(n) for n in user.groups()
    ]


def test_kubernetes_knows_every_field() -> None:
    """By the schemas of its latest release, in which an unknown field is an error."""
    release = kubernetes_validate.latest_version()
    for one in yaml.safe_load_all(KUBERNETES.read_text()):
        kubernetes_validate.validate(one, release, strict=True)
    one["spec"]["ports"][0]["containerPort"] = 9748
    with pytest.raises(kubernetes_validate.ValidationError, match="containerPort"):
        kubernetes_validate.validate(one, release, strict=True)


def test_slurm_starts_one_agent_a_node(tmp_path: Path) -> None:
    """A stand-in for srun runs its command once with --check: the agent judges what it is given."""
    srun = tmp_path / "srun"
    srun.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@" --check\n')
    srun.chmod(0o755)
    config = tmp_path / "agent.toml"
    config.write_text(
        f'store = "{tmp_path}/store"\nlisten = "off"\n[[target]]\npath = "{tmp_path}"\n'
    )
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "IOSONDE_AGENT": str(AGENT)}
    done = subprocess.run(
        ["bash", SBATCH, config], capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    assert (
        subprocess.run(["bash", SBATCH], capture_output=True, check=False, env=environ).returncode
        != 0
    )
    assert "#SBATCH --ntasks-per-node=1\n" in SBATCH.read_text()


def test_scrontab_has_times_and_commands() -> None:
    lines = [line for line in SCRONTAB.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 2
    for line in lines:
        *times, command = line.split(maxsplit=5)
        assert all(re.fullmatch(r"\*|\d+", time) for time in times)
        assert shlex.split(command)[0] in ("iosonde-agent", "iosonde")


def test_the_package_takes_files_that_exist_to_where_they_say() -> None:
    described = yaml.safe_load(PACKAGE.read_text())
    for name in described["scripts"].values():
        assert os.access(ROOT / name, os.X_OK)
        subprocess.run(["sh", "-n", ROOT / name], check=True)
    places = {one["dst"]: one.get("src", "") for one in described["contents"]}
    for source in places.values():
        assert source.startswith("${") or not source or (ROOT / source).is_file(), source
    unit = (ROOT / places["/usr/lib/systemd/system/iosonde-agent.service"]).read_text()
    program, _, config = re.search(
        r"^ExecStart=(\S+) (--config) (\S+)$", unit, re.MULTILINE
    ).groups()
    assert {program, config} <= set(places)
    for name in ("iosonde.sysusers", "iosonde.tmpfiles"):
        target = re.search(r"/usr/lib/\S+/iosonde.conf", (DEPLOY / "systemd" / name).read_text())[0]
        assert places[target] == f"deploy/systemd/{name}"


def test_the_digest_is_mailed_or_the_unit_fails(tmp_path: Path) -> None:
    """Its commands as systemd hands them to the shell, with a mail server's stand-in."""
    unit, timer = (
        (DEPLOY / f"systemd/iosonde-digest.{kind}").read_text() for kind in ("service", "timer")
    )
    assert "OnCalendar=Mon 07:00\n" in timer
    assert "WantedBy=timers.target" in timer
    written = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
    mailed = re.search(r"^ExecStartPost=\+/usr/bin/setpriv (.*)$", unit, re.MULTILINE)[1]
    shell, option, command = shlex.split(written.replace("$$", "$"))
    *ids, _, _, mailing = shlex.split(mailed)
    assert (shell, option) == ("/bin/sh", "-c")
    assert ids == ["--reuid=iosonde", "--regid=iosonde", "--init-groups"]
    assert "User=iosonde\nGroup=iosonde\n" in unit
    options = set(re.findall(r"(?<=\s)--[a-z]+", command))
    assert options <= python_flags("report")
    sendmail, sent = tmp_path / "sendmail", tmp_path / "sent"
    sendmail.write_text(f'#!/bin/sh\n[ "$1" = -t ] && cat > {sent}\n')
    sendmail.chmod(0o755)
    store, mail = tmp_path / "store", tmp_path / "mail"
    simulated(store, 1200)
    for program, ours in (
        ("/usr/bin/iosonde", IOSONDE),
        ("/usr/sbin/sendmail", sendmail),
        ("/var/lib/iosonde", store),
        ("/run/iosonde-digest/mail", mail),
    ):
        assert program in command + mailing
        command, mailing = (one.replace(program, str(ours)) for one in (command, mailing))
    assert f"RuntimeDirectory={Path('/run/iosonde-digest/mail').parent.name}\n" in unit

    def run(to: str) -> int:
        environ = os.environ | {"IOSONDE_MAIL_TO": to}
        for line in (command, mailing):
            if code := subprocess.run([shell, option, line], check=False, env=environ).returncode:
                return code
        return 0

    assert run("") != 0
    assert not sent.exists()
    assert run("storage@example.org") == 0
    assert "To: storage@example.org\n" in sent.read_text()
    assert re.search(r"^Subject: \S", sent.read_text(), re.MULTILINE)


@pytest.mark.service
def test_systemd_takes_the_units_of_the_digest(tmp_path: Path) -> None:
    for name in ("iosonde-digest.service", "iosonde-digest.timer"):
        text = (DEPLOY / "systemd" / name).read_text()
        (tmp_path / name).write_text(text.replace("/etc/default/iosonde", "/dev/null"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
