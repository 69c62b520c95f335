"""The unit for systemd and the file for containers: hardened, without root, and calling what exists."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from discreet.cli.app import COMMANDS, app
from discreet.server.settings import read_settings

ROOT = Path(__file__).parents[2]
UNIT, CONTAINER = ROOT / "packaging" / "discreet.service", ROOT / "packaging" / "Containerfile"
NAMES = {command.__name__ for command in COMMANDS}
HARDENED = {
    "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
    "CapabilityBoundingSet": "", "RestrictSUIDSGID": "yes", "LockPersonality": "yes", "StateDirectoryMode": "0700", "UMask": "0077",
    "LimitCORE": "0",
}  # fmt: skip


def test_the_unit_is_hardened() -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    service = parser["Service"]
    assert {name: service[name] for name in HARDENED} == HARDENED
    assert service["User"] != "root"
    assert service["ExecStart"].split()[1] in NAMES
    assert int(service["TimeoutStopSec"]) > 60  # longer than the server takes


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_knows_every_setting(tmp_path: Path) -> None:
    copy = tmp_path / "discreet.service"
    copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text(encoding="utf-8"), flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False)
    assert "Unknown" not in done.stderr
    assert "Failed to parse" not in done.stderr
    assert "Invalid" not in done.stderr


def test_the_container_is_not_root_and_needs_no_build() -> None:
    text = CONTAINER.read_text(encoding="utf-8").replace("\\\n", "")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    names = [name for name, _ in steps]
    assert names[0] == "FROM"
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert dict(steps)["USER"] == "10001:10001"
    assert names.count("RUN") == 1
    assert not re.search(r"\b(apt|apk|dnf|curl|wget|gcc|make)\b", text)
    copied = {name for step, rest in steps if step == "COPY" for name in rest.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    needed = {"pyproject.toml", "src", *_files_of_the_build()}
    assert needed <= copied, "the build in the container needs them"


def test_what_containers_and_systemd_run_is_a_command_of_ours() -> None:
    text = CONTAINER.read_text(encoding="utf-8")
    entry, command = (json.loads(found) for found in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", text, re.MULTILINE))
    service = re.search(r"^ExecStart=/opt/discreet/bin/(.+)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    assert service is not None
    for words in ([*entry, *command], service[1].split()):
        assert words[0] == "discreet"
        context = get_command(app).commands[words[1]].make_context(words[1], words[2:])  # type: ignore[attr-defined]
        assert str(context.params["config"]) == words[-1]


def test_extras_of_the_container_exist() -> None:
    installed = re.search(r"/source\[([a-z,]+)\]", CONTAINER.read_text(encoding="utf-8"))
    assert installed is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {"server", "oidc", "postgres"} <= set(installed[1].split(",")) <= set(known)


def test_the_container_starts_with_settings_of_its_own(tmp_path: Path) -> None:
    """Its environment and a serve.toml as its first lines describe are settings that a server accepts."""
    text = CONTAINER.read_text(encoding="utf-8")
    found = re.search(r"^ENV (.+)$", text, re.MULTILINE)
    assert found is not None
    (tmp_path / "serve.toml").write_text('[server]\npolicies = ["clinic/discreet.toml"]\nurl = "https://dp.example.org"\n')
    settings = read_settings(tmp_path / "serve.toml", {}, dict(part.split("=", 1) for part in found[1].split()))
    assert settings["host"] == "0.0.0.0"
    assert re.search(r"^EXPOSE 8000$", text, re.MULTILINE)


def _files_of_the_build() -> set[str]:
    """What pyproject.toml names: the README, the licence, and what goes into a source distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = {project["project"]["readme"], *project["project"]["license-files"]}
    return named | {name.strip("/") for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
