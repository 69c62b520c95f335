"""Logins of browsers: a random cookie, stored as a hash, that ends when it is not used, and a secret for its forms."""

from __future__ import annotations

import time
from typing import final

from attrs import frozen

from discreet.server.store import audit
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import Database
from discreet.server.store.secret import digest, new_secret

_IDLE, _LASTS = 2 * 3600.0, 12 * 3600.0  # seconds after which a login ends: unused, and in any case
_SEEN = 60.0  # seconds between two records of its use


@final
@frozen
class Login:
    """Somebody who logged in with a browser."""

    account: Account
    cookie: str  # its hash
    form: str  # the secret that its forms carry


@final
class Logins:
    """The logins of one server."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database, self._accounts = database, accounts

    def begin(self, account: Account, how: str = "") -> tuple[str, str]:
        """The cookie of a new login, and the secret of its forms; the audit log says how somebody logged in, if not by a password."""
        cookie, now = new_secret(), time.time()
        with self._database.writing() as run:
            run("DELETE FROM logins WHERE seen < ? OR created < ?", now - _IDLE, now - _LASTS)
            run(
                "INSERT INTO logins (hash, account, created, seen) VALUES (?, ?, ?, ?)",
                *(digest(cookie), account.name, now, now),
            )
            audit.add(run, account.name, "logged in", how)
        return cookie, _form(cookie)

    def find(self, cookie: str) -> Login | None:
        """Whose login a cookie is, if it is good."""
        hashed, now = digest(cookie), time.time()
        rows = self._database.rows("SELECT account, created, seen FROM logins WHERE hash = ?", hashed)
        if not rows or rows[0][2] < now - _IDLE or rows[0][1] < now - _LASTS:
            return None
        account = self._accounts.get(rows[0][0])
        if account is None:
            return None
        if rows[0][2] < now - _SEEN:
            with self._database.writing() as run:
                run("UPDATE logins SET seen = ? WHERE hash = ?", now, hashed)
        return Login(account, hashed, _form(cookie))

    def end(self, login: Login) -> None:
        """Log out."""
        with self._database.writing() as run:
            run("DELETE FROM logins WHERE hash = ?", login.cookie)
            audit.add(run, login.account.name, "logged out")

    def failed(self, name: str | None, how: str = "") -> None:
        """Record a refused login; the name as far as it is that of an account, so that passwords typed as names are not kept."""
        known = None if name is None else self._accounts.get(name)
        with self._database.writing() as run:
            audit.add(run, None if known is None else known.name, "login refused", how)


def _form(cookie: str) -> str:
    """The secret of a login's forms follows from its cookie, so that it need not be stored, and tells nothing about it."""
    return digest(f"form of {cookie}")
