"""Back up what a server must not lose: ledgers, their witnesses, and the database of accounts, jobs and the audit log.

Each ledger is copied while nobody can write to it, and its witness before it is let go, so that the copy is never behind its witness. A
manifest says how long each chain was and what its newest hash is; what is older than a witness is not restored by accident.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final
from urllib.parse import quote

from attrs import asdict, evolve, frozen

from discreet.address import is_address
from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.server.store import audit
from discreet.server.store.database import open_database
from discreet.session.project import ledger_of, read_project

MANIFEST = "manifest.json"
SERVER = "server.db"
_FORMAT = 1


@final
@frozen
class Chain:
    """How far a chain of hashes had come, and the files that hold it; no files if it is in PostgreSQL, which has backups of its own."""

    length: int
    head: str
    file: str | None = None
    witness: str | None = None


@final
@frozen
class Manifest:
    """What a backup holds: the ledgers by data set, the audit log of the server's database, and a hash of every file."""

    made: float
    ledgers: dict[str, Chain]
    audit: Chain | None
    files: dict[str, str]

    def write(self, folder: Path) -> None:
        """Write it down, as the last file of a backup."""
        _write(folder / MANIFEST, json.dumps({"format": _FORMAT} | asdict(self), indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read it; Invalid if it is none, LedgerError if a file is missing or not as it was written."""
        try:
            found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            if found.pop("format") != _FORMAT:
                raise Invalid("this backup was made by another version of discreet: restore it with that one")
            ledgers = {name: Chain(**chain) for name, chain in found.pop("ledgers").items()}
            told = found.pop("audit")
            made = cls(ledgers=ledgers, audit=None if told is None else Chain(**told), **found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, Invalid):
                raise
            raise Invalid(f"{folder} is not a backup: give the folder that `discreet backup` wrote") from None
        named = {one for chain in (*ledgers.values(), made.audit) if chain is not None for one in (chain.file, chain.witness) if one}
        if not named <= made.files.keys():
            raise LedgerError("the manifest of this backup names files that it has no hash of: use another backup")
        for name, expected in made.files.items():
            if Path(name).name != name or not (folder / name).is_file() or sha256_of(folder / name) != expected:
                raise LedgerError(f"{name[:100]} of this backup is missing or was changed: use another backup")
        return made


def back_up(folder: Path, policies: Mapping[str, Path], database: str) -> Manifest:
    """Copy everything into a new folder, verify the copies, and write a manifest."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise Invalid(f"{folder} exists already: a backup is written into a new folder") from None
    except OSError:
        raise Invalid(f"{folder} cannot be written: choose another folder") from None
    ledgers = {name: _ledger(folder, name, path) for name, path in policies.items()}
    events = _database(folder, database)
    files = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
    made = Manifest(time.time(), ledgers, events, files)
    made.write(folder)
    return made


def _ledger(folder: Path, name: str, policy: Path) -> Chain:
    place, declared = read_project(policy)
    ledger, witness = ledger_of(declared, place)
    if is_address(ledger):
        with closing(open_ledger(ledger, witness=witness)) as opened:
            report = opened.verify()
        return Chain(report.entries, report.head)
    file, seen = f"{name}.ledger", None if witness is None else f"{name}.witness"
    if not os.path.exists(ledger):
        raise Invalid(f"{name} has no ledger yet, so there is nothing to back up: serve it or ask a first question")
    storage = SqliteStorage(ledger, create=False)
    try:
        with storage.writing():  # nobody else writes meanwhile
            copy_database(ledger, folder / file)
            if witness is not None and seen is not None:
                _write(folder / seen, Path(witness).read_bytes())
    except OSError:
        raise LedgerError(f"the witness of {name} cannot be read: make it readable, and back up again") from None
    finally:
        storage.close()
    chain = Chain(0, "", file, seen)
    with opened_copy(folder, chain) as copy:
        report = copy.verify()
    return evolve(chain, length=report.entries, head=report.head)


@contextmanager
def opened_copy(folder: Path, chain: Chain) -> Iterator[Ledger]:
    """The ledger of a backup, opened somewhere else: opening leaves files beside it."""
    with TemporaryDirectory() as scratch:
        for name in (chain.file, chain.witness):
            if name is not None:
                shutil.copyfile(folder / name, Path(scratch) / name)
        witness = None if chain.witness is None else Path(scratch) / chain.witness
        with closing(open_ledger(Path(scratch) / str(chain.file), witness=witness)) as opened:
            yield opened


def _database(folder: Path, database: str) -> Chain | None:
    if is_address(database):
        return audit_of(database)
    if not os.path.exists(database):
        return None
    copy_database(database, folder / SERVER)
    return evolve(audit_of_copy(folder, SERVER), file=SERVER)


def audit_of_copy(folder: Path, file: str) -> Chain:
    """The audit log of a backup, opened somewhere else."""
    with TemporaryDirectory() as scratch:
        shutil.copyfile(folder / file, Path(scratch) / file)
        return audit_of(str(Path(scratch) / file))


def audit_of(database: str) -> Chain:
    """The audit log of a server's database, once it is verified."""
    opened = open_database(database)
    try:
        count = audit.verify(opened)
        newest = audit.entries(opened, 1)
        return Chain(count, newest[-1].hash if newest else "")
    finally:
        opened.close()


def copy_database(source: str | Path, target: Path) -> None:
    """A consistent copy of an SQLite file that others may be using, readable by its owner only."""
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(f"file:{quote(os.fspath(source))}?mode=ro", uri=True)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except (OSError, sqlite3.Error):
        raise LedgerError("a database cannot be copied: check that it can be read, and that there is room") from None
    _sync(target)


def copy_file(source: Path, target: Path) -> None:
    """A durable copy of a file, readable by its owner only."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    shutil.copyfile(source, target)
    _sync(target)


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, content: bytes) -> None:
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    for place, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        fd: Any = os.open(place, flags)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
