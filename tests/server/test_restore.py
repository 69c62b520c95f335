"""Restoring: what was spent or revoked since is not forgotten by accident."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from server.test_backup import database, policies, spend  # noqa: F401

from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.server.backup import back_up
from discreet.server.restore import restore
from discreet.server.store import audit
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database
from discreet.server.store.logins import Logins


@pytest.fixture
def saved(tmp_path: Path, policies: dict[str, Path]) -> Path:  # noqa: F811
    back_up(tmp_path / "backup", policies, database(policies))
    return tmp_path / "backup"


def length(folder: Path) -> int:
    with closing(open_ledger(folder / "clinic" / "discreet.ledger", witness=folder / "witness" / "clinic.witness")) as ledger:
        return ledger.verify().entries


def test_a_ledger_that_was_lost(tmp_path: Path, saved: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    (tmp_path / "clinic" / "discreet.ledger").unlink()
    Path(database(policies)).unlink()
    done = restore(saved, policies, database(policies))
    assert length(tmp_path) == 4
    assert any("4 entries" in line for line in done)
    spend(tmp_path, 1, "after")
    assert length(tmp_path) == 5


def test_a_machine_that_was_lost(tmp_path: Path, saved: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    for path in (tmp_path / "clinic" / "discreet.ledger", tmp_path / "witness" / "clinic.witness", Path(database(policies))):
        path.unlink()
    restore(saved, policies, database(policies))
    assert length(tmp_path) == 4


def test_a_damaged_ledger_is_kept_beside(tmp_path: Path, saved: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    (tmp_path / "clinic" / "discreet.ledger").write_bytes(b"damaged" * 1000)
    restore(saved, policies, database(policies))
    assert length(tmp_path) == 4
    [kept] = (tmp_path / "clinic").glob("discreet.ledger.before-restore-*")
    assert kept.read_bytes().startswith(b"damaged")


@pytest.mark.parametrize("ledger_is_there", [True, False])
def test_what_a_witness_knows_is_not_forgotten(
    tmp_path: Path,
    saved: Path,
    policies: dict[str, Path],  # noqa: F811
    ledger_is_there: bool,
) -> None:
    spend(tmp_path, 2, "since")
    if not ledger_is_there:
        (tmp_path / "clinic" / "discreet.ledger").unlink()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(LedgerError, match="spent since would be forgotten"):
        restore(saved, policies, database(policies))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before  # nothing was changed
    done = restore(saved, policies, database(policies), older=True)
    assert any("is forgotten" in line for line in done)
    assert length(tmp_path) == 4  # and its witness agrees again


def test_what_was_revoked_since_is_not_forgotten(tmp_path: Path, saved: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    opened = open_database(database(policies))
    Accounts(opened).add("ann", "analyst", "owner")
    opened.close()
    with pytest.raises(LedgerError, match="would be good again"):
        restore(saved, policies, database(policies))
    restore(saved, policies, database(policies), older=True)
    opened = open_database(database(policies))
    assert [one.name for one in Accounts(opened).all()] == ["owner"]
    opened.close()


def test_after_restoring_everybody_logs_in_again(tmp_path: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    opened = open_database(database(policies))
    accounts = Accounts(opened)
    account = accounts.get("owner")
    assert account is not None
    cookie, _ = Logins(opened, accounts).begin(account)
    link = accounts.link("owner", None)
    opened.close()
    back_up(tmp_path / "backup", policies, database(policies))
    restore(tmp_path / "backup", policies, database(policies))
    opened = open_database(database(policies))
    accounts = Accounts(opened)
    assert Logins(opened, accounts).find(cookie) is None
    assert accounts.link_holder(link) is None
    assert audit.entries(opened)[-1].event == "restored"
    audit.verify(opened)
    opened.close()


def test_backups_of_something_else(tmp_path: Path, saved: Path, policies: dict[str, Path]) -> None:  # noqa: F811
    with pytest.raises(Invalid, match="no data set school"):
        restore(saved, {"school": policies["clinic"]}, database(policies))
    with pytest.raises(Invalid, match="not a backup"):
        restore(tmp_path, policies, database(policies))
    with pytest.raises(Invalid, match="PostgreSQL"):
        restore(saved, policies, "postgresql://127.0.0.1:1/none")
