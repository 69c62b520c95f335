"""Backups: consistent while others write, verified, readable by their owner only."""

from __future__ import annotations

import json
import os
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from server.clinic import POLICY, write_clinic

from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.loss.leaves import Pure
from discreet.server.backup import MANIFEST, Manifest, back_up
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database
from discreet.session.project import open_project

WITNESSED = POLICY + '\n[ledger]\nwitness = "../witness/clinic.witness"\n'


@pytest.fixture
def policies(tmp_path: Path) -> dict[str, Path]:
    """A clinic with a witness elsewhere, an analyst, and a few entries."""
    (tmp_path / "witness").mkdir()
    policy = write_clinic(tmp_path / "clinic", policy=WITNESSED)
    open_project(policy, None, "owner").close()
    database = open_database(policy.with_suffix(".server"))
    Accounts(database).add("owner", "owner", None)
    database.close()
    spend(tmp_path, 3)
    return {"clinic": policy}


def spend(folder: Path, times: int, name: str = "first") -> None:
    with closing(open_ledger(folder / "clinic" / "discreet.ledger", witness=folder / "witness" / "clinic.witness")) as ledger:
        for number in range(times):
            ledger.spend(Pure("0.01"), question=f"{name} {number}", analyst="owner")


def database(policies: dict[str, Path]) -> str:
    return str(policies["clinic"].with_suffix(".server"))


def test_a_backup_has_everything(tmp_path: Path, policies: dict[str, Path]) -> None:
    made = back_up(tmp_path / "backup", policies, database(policies))
    assert sorted(made.files) == ["clinic.ledger", "clinic.witness", "server.db"]
    assert made.ledgers["clinic"].length == 4
    assert made.audit is not None
    assert made.audit.length == 1
    assert Manifest.read(tmp_path / "backup") == made
    for path in (tmp_path / "backup").iterdir():
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "backup").st_mode) == 0o700
    with closing(open_ledger(tmp_path / "backup" / "clinic.ledger", witness=tmp_path / "backup" / "clinic.witness")) as copy:
        assert copy.verify().witnessed


def test_a_backup_while_others_spend(tmp_path: Path, policies: dict[str, Path]) -> None:
    thread = threading.Thread(target=spend, args=(tmp_path, 40, "meanwhile"))
    thread.start()
    made = [back_up(tmp_path / f"backup{number}", policies, database(policies)) for number in range(5)]
    thread.join()
    lengths = [one.ledgers["clinic"].length for one in made]
    assert lengths == sorted(lengths)
    for number in range(5):
        Manifest.read(tmp_path / f"backup{number}")


def test_two_policies_may_share_a_ledger(tmp_path: Path, policies: dict[str, Path]) -> None:
    other = tmp_path / "clinic" / "other.toml"
    other.write_text(POLICY + '\n[ledger]\npath = "discreet.ledger"\nwitness = "../witness/clinic.witness"\n')
    made = back_up(tmp_path / "backup", policies | {"other": other}, database(policies))
    assert made.ledgers["clinic"].head == made.ledgers["other"].head


def test_backups_that_are_not_made(tmp_path: Path, policies: dict[str, Path]) -> None:
    with pytest.raises(Invalid, match="exists already"):
        back_up(tmp_path, policies, database(policies))
    fresh = write_clinic(tmp_path / "fresh")
    with pytest.raises(Invalid, match="no ledger yet"):
        back_up(tmp_path / "backup", {"fresh": fresh}, database(policies))
    (tmp_path / "witness" / "clinic.witness").unlink()
    with pytest.raises(LedgerError, match="witness"):
        back_up(tmp_path / "another", policies, database(policies))


def test_a_database_in_postgres_is_verified_and_left_there(tmp_path: Path, policies: dict[str, Path], postgres: str) -> None:
    opened = open_database(postgres)
    opened.close()
    made = back_up(tmp_path / "backup", policies, postgres)
    assert made.audit is not None
    assert made.audit.file is None
    assert "server.db" not in made.files


@pytest.mark.parametrize("change", ["a byte", "a file gone", "no manifest", "another format", "a path", "a file without a hash"])
def test_a_backup_that_was_changed(tmp_path: Path, policies: dict[str, Path], change: str) -> None:
    folder = tmp_path / "backup"
    back_up(folder, policies, database(policies))
    manifest = json.loads((folder / MANIFEST).read_text())
    match change:
        case "a byte":
            content = bytearray((folder / "clinic.ledger").read_bytes())
            content[-1] ^= 1
            (folder / "clinic.ledger").write_bytes(content)
        case "a file gone":
            (folder / "clinic.witness").unlink()
        case "no manifest":
            (folder / MANIFEST).unlink()
        case "another format":
            (folder / MANIFEST).write_text(json.dumps(manifest | {"format": 7}))
        case "a path":
            (folder / MANIFEST).write_text(json.dumps(manifest | {"files": manifest["files"] | {"../../etc/passwd": "0"}}))
        case "a file without a hash":
            (folder / MANIFEST).write_text(json.dumps(manifest | {"files": {}}))
    with pytest.raises((Invalid, LedgerError)):
        Manifest.read(folder)
