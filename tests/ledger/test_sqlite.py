"""The file: who may write it, how it is written, and what SQLite is told."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from ledger.tampering import TERMS, spend_some

from discreet.errors import LedgerError
from discreet.ledger import sqlite
from discreet.ledger.ledger import open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.loss.leaves import Pure

NOBODY = 65534


def as_nobody(work: object) -> str:
    """What an unprivileged process says; root may write anything, and tests often run as root."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()  # type: ignore[operator]
            os.write(writer, b"no error")
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def shown() -> Iterator[Path]:
    """A folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_ledger_that_cannot_be_written_is_read_and_not_spent(shown: Path) -> None:
    spend_some(shown / "a", count=2)
    (shown / "a").chmod(0o444)
    shown.chmod(0o555)
    assert as_nobody(lambda: open_ledger(shown / "a", TERMS).verify()) == "no error"
    said = as_nobody(lambda: open_ledger(shown / "a", TERMS).spend(Pure(1), question="q"))
    assert said.startswith("LedgerError: the ledger cannot be written: make its file")
    said = as_nobody(lambda: open_ledger(shown / "b", TERMS))
    assert said.startswith("LedgerError: the file of the ledger cannot be created")
    (shown / "a").chmod(0o000)
    assert as_nobody(lambda: open_ledger(shown / "a", TERMS)).startswith("LedgerError: the ledger cannot be")
    (shown / "a").chmod(0o600)
    shown.chmod(0o755)
    assert open_ledger(shown / "a", TERMS).spent.epsilon == 2


def test_two_ledgers_on_one_file_in_one_process_see_each_other(place: Path) -> None:
    one, two = open_ledger(place / "a", TERMS), open_ledger(place / "a", TERMS)
    for i in range(5):
        one.spend(Pure(1), question=f"one {i}")
        two.spend(Pure(1), question=f"two {i}")
    assert one.remaining.epsilon == two.remaining.epsilon == 0


def test_a_closed_ledger_opens_again(place: Path) -> None:
    ledger = open_ledger(place / "a", TERMS)
    ledger.close()
    ledger.close()
    assert ledger.spend(Pure(1), question="q").sequence == 1


def test_rows_are_touched_inside_a_block_only(place: Path) -> None:
    with pytest.raises(LedgerError, match="Open it again"):
        SqliteStorage(str(place / "a"), create=True).state()


def test_many_entries_are_read_in_pieces(place: Path) -> None:
    ledger = open_ledger(place / "a", type(TERMS)(10**6, 0, "id"))
    for i in range(2 * sqlite._AT_ONCE + 3):
        ledger.spend(Pure(1), question=f"{i}")
    again = open_ledger(place / "a")
    found = again.entries()
    assert [entry.sequence for entry in found] == list(range(len(found)))
    assert sum(entry.kind == "spend" for entry in found) == 2 * sqlite._AT_ONCE + 3
    assert again.spent.epsilon == 2 * sqlite._AT_ONCE + 3


def test_a_new_file_is_its_owners_only(place: Path) -> None:
    open_ledger(place / "a", TERMS, place / "w").spend(Pure(0.1), question="q")
    assert {stat.S_IMODE((place / name).stat().st_mode) for name in ("a", "w", "a-turns")} == {0o600}


def test_the_folder_must_exist(place: Path) -> None:
    with pytest.raises(LedgerError, match="folder of the ledger does not exist"):
        open_ledger(place / "no" / "a", TERMS)


def test_a_path_with_odd_characters(place: Path) -> None:
    odd = place / "a?mode=ro#b%20 ä"
    open_ledger(odd, TERMS).spend(Pure(0.1), question="q")
    assert sorted(found.name for found in place.iterdir()) == [odd.name, odd.name + "-journal", odd.name + "-turns"]
    assert open_ledger(odd).spent.epsilon == Fraction(1, 10)
