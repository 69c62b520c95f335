"""Ledgers of format 3, as the version before wrote them (format3.sql), go on in this format with the same entries."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest
from ledger.shelves import Schemas
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.migrate import migrate
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

OLD = (Path(__file__).parent / "format3.sql").read_text(encoding="utf-8")
TERMS = Terms(1, "1e-6", "patient_id")
COLUMNS = "sequence, kind, body, previous, at, hash"


def rows_of(path: Path | str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY sequence").fetchall()
    connection.close()
    return rows


@pytest.fixture
def old(place: Path) -> Path:
    """A ledger with a checkpoint, a grant that renews, and questions that were not answered."""
    connection = sqlite3.connect(place / "a")
    connection.executescript(OLD)
    connection.close()
    return place / "a"


@pytest.fixture
def witness(old: Path) -> Path:
    """Its witness, as the old version wrote it: a line for each entry."""
    found = old.with_name("w")
    found.write_text("".join(f"{row[0]} {row[5]}\n" for row in rows_of(old)))
    return found


def check(ledger: Ledger) -> None:
    """What was there is there, and what is new works."""
    report = ledger.verify()
    assert (report.spends, report.releases, report.received, report.witnessed) == (8, 5, 0, True)
    assert ledger.find("q4") == {"rows": [{"n": 4, "mean": 0.4}]}
    assert {entry.body["question"] for entry in ledger.pending()} == {"q0", "q3", "q6"}
    before, whole = ledger.allowance("ada").spent.epsilon, ledger.spent
    assert before is not None
    assert ledger.receive("q4", "ada") is not None  # it was the owner's
    assert (ledger.allowance("ada").spent.epsilon or 0) > before
    assert ledger.spent == whole
    ledger.spend(Pure("1/100"), question="new", analyst="ada")
    ledger.verify()


def test_entries_and_witness_stay_as_they_are(old: Path, witness: Path) -> None:
    before, watched = rows_of(old), witness.read_text()
    with pytest.raises(LedgerError, match="discreet migrate"):
        open_ledger(old, TERMS, witness)
    done = migrate(old, witness)
    assert (done.entries, done.version, done.keeps_receipts) == (len(before), 3, True)
    assert rows_of(old) == rows_of(done.old) == before
    assert witness.read_text() == watched
    check(open_ledger(old, TERMS, witness))
    with pytest.raises(LedgerError, match="not a ledger of format"):
        migrate(old, witness)


def test_the_command_says_that_receipts_stay_valid(old: Path, witness: Path) -> None:
    result = CliRunner().invoke(app, ["migrate", str(old), "--witness", str(witness)])
    assert result.exit_code == 0, result.output
    assert "older receipts and the witness, if there is one, stay valid" in result.output
    check(open_ledger(old, TERMS, witness))


def test_nobody_spends_from_the_old_one_and_no_second_migration_begins_anew(old: Path, witness: Path) -> None:
    done = migrate(old, witness)
    connection = sqlite3.connect(done.old)
    assert connection.execute("SELECT filter FROM state").fetchall() == [('{"migrated":true}',)]
    connection.close()


def test_an_interrupted_migration_is_done_again(old: Path, witness: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.link", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            migrate(old, witness)
    migrate(old, witness)
    check(open_ledger(old, TERMS, witness))


def test_a_witness_is_asked_for_and_sees_an_older_copy(old: Path, witness: Path) -> None:
    with pytest.raises(LedgerError, match="pass the file of the witness"):
        migrate(old)
    with witness.open("a") as file:
        file.write(f"{len(rows_of(old))} {'ab' * 32}\n")
    with pytest.raises(LedgerError, match="older copy"):
        migrate(old, witness)
    assert not Path(f"{old}.format3").exists()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entries SET body = replace(body, '0.1', '0.2') WHERE kind = 'release'",
        "UPDATE entries SET body = replace(body, '\"n\":4', '\"n\":5') WHERE kind = 'release'",
        "DELETE FROM entries WHERE sequence = 3",
        "DELETE FROM entries WHERE sequence > 15",
    ],
)
def test_a_tampered_old_ledger_is_left_as_it_is(old: Path, witness: Path, edit: str) -> None:
    connection = sqlite3.connect(old)
    for name in ("entries_stay", "entries_last"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(edit)
    connection.commit()
    connection.close()
    before = rows_of(old)
    with pytest.raises(LedgerError, match="cannot be trusted"):
        migrate(old, witness)
    assert rows_of(old) == before
    assert not Path(f"{old}.format3").exists()


def test_a_database_is_carried_over_too(old: Path, witness: Path, schemas: Schemas) -> None:
    rows, schema = rows_of(old), schemas.schema("a")
    with psycopg.connect(schemas.uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")  # type: ignore[arg-type]
        connection.execute(f"CREATE TABLE {schema}.about (application text, version integer)")  # type: ignore[arg-type]
        connection.execute(f"INSERT INTO {schema}.about VALUES ('discreet', 3)")  # type: ignore[arg-type]
        columns = "sequence bigint, kind text, body text, previous text, at text, hash text"
        connection.execute(f"CREATE TABLE {schema}.entries ({columns})")  # type: ignore[arg-type]
        for row in rows:
            connection.execute(f"INSERT INTO {schema}.entries VALUES (%s, %s, %s, %s, %s, %s)", row)  # type: ignore[arg-type]
        connection.execute(f"CREATE TABLE {schema}.state (sequence bigint, head text, filter text)")  # type: ignore[arg-type]
        connection.execute(f"INSERT INTO {schema}.state VALUES (%s, %s, '')", (rows[-1][0], rows[-1][-1]))  # type: ignore[arg-type]
    done = migrate(schemas.at("a"), witness)
    assert (done.old, done.version) == (f"{schema}_format3", 3)
    ledger = open_ledger(schemas.at("a"), TERMS, witness)
    assert [entry.hash for entry in ledger.entries()] == [row[5] for row in rows]
    check(ledger)
