"""The unit for systemd and the file for containers: hardened, without root, and calling what exists."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from discreet.cli.app import COMMANDS

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
    for _, copied in (step for step in steps if step[0] == "COPY"):
        assert all((ROOT / name).exists() for name in copied.split()[:-1])
