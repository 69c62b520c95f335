"""Ledgers of format 2, as the version before wrote them (format2.sql), become ledgers of this format."""

from __future__ import annotations

import sqlite3
import stat
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.errors import LedgerError
from discreet.ledger import migrate as migration
from discreet.ledger.ledger import open_ledger
from discreet.ledger.migrate import migrate
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

OLD = (Path(__file__).parent / "format2.sql").read_text(encoding="utf-8")
SPENT = 4 * Fraction(1, 20) + 3 * Fraction(1, 50) + 3 * Fraction(1, 70)


def rows_of(path: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()
    connection.close()
    return rows


@pytest.fixture
def old(place: Path) -> Path:
    connection = sqlite3.connect(place / "a")
    connection.executescript(OLD)
    connection.close()
    return place / "a"


def test_an_old_ledger_says_what_to_do(old: Path) -> None:
    with pytest.raises(LedgerError, match="discreet migrate"):
        open_ledger(old)


def check(place: str | Path) -> None:
    ledger = open_ledger(place, Terms(1, "1e-6", "patient_id"))
    assert ledger.verify().spends == 10
    assert ledger.spent.epsilon is not None
    assert 0 <= ledger.spent.epsilon - SPENT <= Fraction(3, 10**40)
    assert ledger.allowance("ada").granted.epsilon == Fraction(3, 4)
    assert ledger.find("q2") == {"rows": [{"n": 2, "mean": 0.2}]}
    assert ledger.find("q0") is None
    paid = ledger.spend_of("k1")
    assert paid is not None
    assert (paid.body["note"], paid.body["analyst"]) == ("question 1", "ada")
    assert {entry.body["question"] for entry in ledger.pending()} == {"q0", "q3", "q6", "q9"}
    assert paid.at < ledger.entries()[-1].at  # times are kept
    ledger.spend(Pure(0.1), question="new", analyst="ada")


def test_an_old_file_is_carried_over_and_kept(old: Path) -> None:
    before = rows_of(old)
    old.chmod(0o640)
    done = migrate(old)
    assert rows_of(Path(done.old)) == before
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    check(old)
    with pytest.raises(LedgerError, match=r"already exists|not a ledger of format"):
        migrate(old)


def test_the_command(old: Path) -> None:
    result = CliRunner().invoke(app, ["migrate", str(old)])
    assert result.exit_code == 0
    assert "migrated" in result.output
    check(old)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entries SET body = replace(body, '0.1', '0.2') WHERE kind = 'release'",
        "DELETE FROM entries WHERE sequence = 3",
        "DELETE FROM entries WHERE sequence > 15",
        "UPDATE entries SET at = replace(at, '2026', '2025') WHERE sequence = 4",
    ],
)
def test_a_tampered_old_ledger_is_left_as_it_is(old: Path, edit: str) -> None:
    connection = sqlite3.connect(old)
    for name in ("entries_stay", "entries_last"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(edit)
    connection.commit()
    connection.close()
    before = rows_of(old)
    with pytest.raises(LedgerError, match="cannot be trusted"):
        migrate(old)
    assert rows_of(old) == before
    assert not Path(f"{old}.format2").exists()


def test_what_is_no_old_ledger_is_left_alone(place: Path) -> None:
    (place / "text").write_text("patient,cost\n" * 50)
    open_ledger(place / "new", Terms(1, 0, "id")).close()
    for name in ("text", "new", "none"):
        with pytest.raises(LedgerError):
            migrate(place / name)
    assert open_ledger(place / "new").spent.epsilon == 0


# ── what a hostile or hurried owner could do ─────────────────────────────────────────────────────────────────────────


def test_a_name_with_percent_and_hash_is_that_file(old: Path) -> None:
    odd = old.with_name("x%41#y.ledger")
    old.rename(odd)
    migrate(odd)
    check(odd)
    assert not old.with_name("xA").exists()


def test_a_link_is_the_file_and_a_second_name_is_refused(old: Path) -> None:
    link, second = old.with_name("link"), old.with_name("second")
    second.hardlink_to(old)
    with pytest.raises(LedgerError, match="second name"):
        migrate(old)
    second.unlink()
    link.symlink_to(old)
    migrate(link)
    assert link.is_symlink()
    check(old)
    with pytest.raises(LedgerError, match="not a ledger of format"):
        migrate(old)


def test_nobody_spends_from_the_old_one_afterwards(old: Path) -> None:
    """Whoever has the old file open still has it open: its state says that it is closed."""
    connection = sqlite3.connect(old)
    connection.execute("SELECT * FROM state").fetchall()
    done = migrate(old)
    assert connection.execute("SELECT filter FROM state").fetchall() == [('{"migrated":true}',)]
    connection.close()
    assert not Path(f"{old}-journal").exists()
    assert Path(done.old).exists()


def test_who_writes_is_waited_for(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(old, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    before = old.read_bytes()
    monkeypatch.setattr(migration, "PATIENCE", 0.1)
    with pytest.raises(LedgerError, match="in use"):
        migrate(old)
    assert old.read_bytes() == before
    connection.execute("ROLLBACK")
    connection.close()
    migrate(old)
    check(old)


def test_an_interrupted_migration_is_done_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.link", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            migrate(old)
    migrate(old)
    check(old)


def test_a_witness_is_asked_and_begun_anew(old: Path) -> None:
    rows = rows_of(old)
    witness = old.with_name("w")
    witness.write_text("".join(f"{row[0]} {row[4]}\n" for row in rows))
    done = migrate(old, witness)
    assert Path(f"{witness}.format2").exists()
    assert open_ledger(old, None, witness).verify().witnessed
    assert done.entries == len(rows)


def test_an_older_copy_is_seen_by_its_witness(old: Path) -> None:
    rows = rows_of(old)
    witness = old.with_name("w")
    witness.write_text("".join(f"{row[0]} {row[4]}\n" for row in rows) + f"{len(rows)} {'ab' * 32}\n")
    with pytest.raises(LedgerError, match="older copy"):
        migrate(old, witness)
