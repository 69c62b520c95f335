"""The audit log: logins, accounts, tokens and grants, hash-chained like the ledger, without data or secrets."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any, final

from attrs import frozen

from discreet.errors import LedgerError
from discreet.server.store.database import Database

_BEFORE_ALL = "0" * 64


@final
@frozen
class AuditEntry:
    """One event: who did what to whom."""

    sequence: int
    at: float
    account: str | None
    event: str
    detail: str
    previous: str
    hash: str

    @property
    def sealed(self) -> str:
        """The hash that an unchanged entry has."""
        return _seal(self.sequence, self.at, self.account, self.event, self.detail, self.previous)


def add(run: Any, account: str | None, event: str, detail: str = "") -> None:
    """Append an event inside a `writing` block, so that it is durable together with what it records."""
    newest = run("SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
    sequence, previous = (newest[0][0] + 1, newest[0][1]) if newest else (0, _BEFORE_ALL)
    at = round(time.time(), 3)
    seal = _seal(sequence, at, account, event, detail, previous)
    run(
        "INSERT INTO audit (sequence, at, account, event, detail, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(sequence, at, account, event, detail, previous, seal),
    )


def entries(database: Database, newest: int | None = None) -> list[AuditEntry]:
    """All events, oldest first; or only the newest."""
    columns = "sequence, at, account, event, detail, previous, hash"
    if newest is None:
        return [AuditEntry(*row) for row in database.rows(f"SELECT {columns} FROM audit ORDER BY sequence")]
    rows = database.rows(f"SELECT {columns} FROM audit ORDER BY sequence DESC LIMIT ?", newest)
    return [AuditEntry(*row) for row in reversed(rows)]


def verify(database: Database) -> int:
    """The number of events; LedgerError if one was changed, removed or inserted.

    That the newest ones were cut off cannot be seen here, but in what is kept elsewhere: `discreet backup` writes down the newest hash.
    """
    previous, count = _BEFORE_ALL, 0
    for entry in entries(database):
        if entry.sequence != count or entry.previous != previous or entry.hash != entry.sealed:
            raise LedgerError(f"the audit log cannot be trusted: event {count} was changed or removed")
        previous, count = entry.hash, count + 1
    return count


def _seal(*said: object) -> str:
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
