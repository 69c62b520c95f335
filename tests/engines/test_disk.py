"""A folder without space or permission is found out before paying."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.engines import disk
from discreet.engines.disk import disk_problem


def test_a_folder_with_space_has_no_problem(tmp_path: Path) -> None:
    assert disk_problem(str(tmp_path)) is None


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MINIMUM_FREE", 2**62)
    assert (
        disk_problem(str(tmp_path)) == f"the disk of {tmp_path} is full: free some space, or set TMPDIR to another folder and connect again"
    )


def test_a_folder_that_is_missing_or_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not exist or is not writable" in str(disk_problem(str(tmp_path / "nowhere")))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "does not exist or is not writable" in str(disk_problem(str(tmp_path)))
