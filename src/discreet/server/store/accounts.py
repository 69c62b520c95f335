"""Accounts: who may do what. Nobody is deleted, so that a name never means another person; accounts are disabled."""

from __future__ import annotations

import json
import time
from typing import Any, Literal, TypeAlias, final, get_args

from attrs import frozen

from discreet.errors import Invalid
from discreet.ledger.standing import OWNER, analyst_name
from discreet.server.store import audit
from discreet.server.store.database import Database
from discreet.server.store.secret import digest, hash_password, new_secret, password_fits

Role: TypeAlias = Literal["owner", "analyst", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
_LINK_LASTS = 24 * 3600.0  # seconds
_CANCELLED = json.dumps({"error": "Refused", "message": "the account was disabled before this began; nothing was charged"})
_COLUMNS = "name, role, disabled, created, password IS NOT NULL"


@final
@frozen
class Account:
    """Somebody who may log in or hold tokens. An owner reads the ledger and grants budgets; an auditor reads it and asks nothing."""

    name: str
    role: Role
    disabled: bool
    created: float
    has_password: bool

    @property
    def payer(self) -> str:
        """The name under which the ledger charges what this account asks."""
        return OWNER if self.role == "owner" else self.name


@final
class Accounts:
    """The accounts of one server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Account]:
        """Every account, by name."""
        return [_account(row) for row in self._database.rows(f"SELECT {_COLUMNS} FROM accounts ORDER BY name")]

    def get(self, name: str) -> Account | None:
        """The account of this name, if it is not disabled."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM accounts WHERE name = ? AND disabled = 0", name)
        return _account(rows[0]) if rows else None

    def add(self, name: str, role: Role, by: str | None) -> Account:
        """Create an account without a password; a link lets its owner choose one."""
        name = _name(name, role)
        if role not in ROLES:
            raise Invalid(f"an account is one of {', '.join(ROLES)}")
        with self._database.writing() as run:
            if run("SELECT 1 FROM accounts WHERE lower(name) = lower(?)", name):
                raise Invalid("there is an account of this name: choose another one")
            run("INSERT INTO accounts (name, role, created) VALUES (?, ?, ?)", name, role, time.time())
            audit.add(run, by, "account added", f"{name} as {role}")
        return Account(name, role, False, time.time(), False)

    def disable(self, name: str, by: str) -> None:
        """End everything that an account can do; its answers and what it spent stay recorded."""
        with self._database.writing() as run:
            _require(run, name)
            owners = run("SELECT count(*) FROM accounts WHERE role = 'owner' AND disabled = 0 AND name <> ?", name)
            if owners[0][0] == 0:
                raise Invalid("this is the only owner: add another one first")
            run("UPDATE accounts SET disabled = 1 WHERE name = ?", name)
            run("DELETE FROM logins WHERE account = ?", name)
            run("DELETE FROM links WHERE account = ?", name)
            run("UPDATE tokens SET revoked = 1 WHERE account = ?", name)
            run(
                "UPDATE jobs SET state = 'cancelled', ended = ?, outcome = ? WHERE account = ? AND state = 'queued'",
                *(time.time(), _CANCELLED, name),
            )
            audit.add(run, by, "account disabled", name)

    # ── passwords ────────────────────────────────────────────────────────────────────────────────────────────────────

    def link(self, name: str, by: str | None) -> str:
        """A secret with which its holder can choose a password for this account, once, within a day; earlier ones end."""
        secret = new_secret()
        with self._database.writing() as run:
            _require(run, name)
            run("DELETE FROM links WHERE account = ? OR expires < ?", name, time.time())
            run("INSERT INTO links (hash, account, expires) VALUES (?, ?, ?)", digest(secret), name, time.time() + _LINK_LASTS)
            audit.add(run, by, "password link made", name)
        return secret

    def link_holder(self, secret: str) -> Account | None:
        """Whose password a link is for, if it is still good."""
        rows = self._database.rows("SELECT account FROM links WHERE hash = ? AND expires >= ?", digest(secret), time.time())
        return self.get(rows[0][0]) if rows else None

    def choose_password(self, secret: str, password: str) -> Account:
        """Use a link; all logins of the account end."""
        hashed = hash_password(password)
        with self._database.writing() as run:
            found = run("DELETE FROM links WHERE hash = ? AND expires >= ? RETURNING account", digest(secret), time.time())
            if not found or not run("SELECT 1 FROM accounts WHERE name = ? AND disabled = 0", found[0][0]):
                raise Invalid("this link was used or has expired: ask for a new one")
            name = str(found[0][0])
            run("UPDATE accounts SET password = ? WHERE name = ?", hashed, name)
            run("DELETE FROM logins WHERE account = ?", name)
            audit.add(run, name, "password chosen")
        account = self.get(name)
        assert account is not None, "it was just there"
        return account

    def with_password(self, name: str, password: str) -> Account | None:
        """The account of this name and password; the work is the same whether or not there is one."""
        rows = self._database.rows("SELECT password FROM accounts WHERE name = ? AND disabled = 0", name)
        return self.get(name) if password_fits(password, rows[0][0] if rows else None) else None


def _account(row: Any) -> Account:
    name, role, disabled, created, has_password = row
    return Account(name, role, bool(disabled), created, bool(has_password))


def _require(run: Any, name: str) -> None:
    if not run("SELECT 1 FROM accounts WHERE name = ? AND disabled = 0", name):
        raise Invalid("there is no such account: check the name")


def _name(name: str, role: Role) -> str:
    if role == "owner" and isinstance(name, str) and name.casefold() == OWNER:
        return OWNER
    return analyst_name(name)
