"""`discreet serve`: where its settings come from, and what it says first; listening itself is tested in tests/server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from server.clinic import write_clinic

from discreet.server.settings import Listening, Settings


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Settings, Listening]]:
    """What would be served."""
    found: list[tuple[Settings, Listening]] = []

    def listen(settings: Settings, listening: Listening, say: Any, prepare: Any = None) -> None:
        found.append((settings, listening))
        say(f"serving {', '.join(settings.policies)} at {settings.address}")

    monkeypatch.setattr("discreet.server.listen.listen", listen)
    return found


def test_policies_and_options(run: Any, started: Any, tmp_path: Path) -> None:
    write_clinic(tmp_path / "clinic")
    ran = run("serve", tmp_path / "clinic", "--port", 9000, "--no-slots", "--seats", 3)
    assert (ran.code, ran.out) == (0, "serving clinic at http://127.0.0.1:9000\n")
    [(settings, listening)] = started
    assert settings.clock.off
    assert settings.seats == 3
    assert settings.database == str(tmp_path / "clinic" / "discreet.server")
    assert listening == Listening(port=9000)


def test_a_file_of_settings(run: Any, started: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_clinic(tmp_path / "clinic")
    (tmp_path / "serve.toml").write_text('[server]\npolicies = ["clinic"]\nport = 9000\nrows = 500\nslot = 1.0\n')
    monkeypatch.setenv("DISCREET_PORT", "9001")
    assert run("serve", "--config", tmp_path / "serve.toml", "--slot", "2").code == 0
    [(settings, listening)] = started
    assert list(settings.policies) == ["clinic"]
    assert (settings.rows, settings.clock.first, listening.port) == (500, 2, 9001)


def test_problems(run: Any, started: Any, tmp_path: Path) -> None:
    write_clinic(tmp_path / "clinic")
    ran = run("serve", tmp_path / "clinic", "--host", "0.0.0.0", "--certificate", "none.pem")
    assert ran.code == 2
    assert "key: is missing" in ran.err
    assert "there is no such file" in ran.err
    assert run("serve").code == 2
    assert started == []


def test_a_folder_without_a_policy_is_set_up_in_the_browser(run: Any, started: Any, tmp_path: Path) -> None:
    (tmp_path / "school").mkdir()
    assert run("serve", tmp_path / "school").code == 0
    [(settings, _)] = started
    assert (settings.policies, settings.folders) == ({}, {"school": tmp_path / "school"})
    assert settings.database == str(tmp_path / "school" / "discreet.server")
    assert run("serve", tmp_path / "nowhere").code == 2
