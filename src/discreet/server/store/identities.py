"""Who a login provider says somebody is: logins that are under way, and the account of each identity.

A provider may give a name or an e-mail address to another person one day. So the first identity that comes for an account keeps it.
"""

from __future__ import annotations

import time
from typing import final

from discreet.errors import Invalid
from discreet.server.store import audit
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import Database
from discreet.server.store.secret import digest

_MOST = 10_000  # logins under way


@final
class Identities:
    """The identities of one server. All instances share them, so that somebody may come back to another one."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database, self._accounts = database, accounts

    def begin(self, browser: str, following: str, seconds: float) -> None:
        """Record that a browser was sent to the provider, and the path that it wants afterwards."""
        now = time.time()
        with self._database.writing() as run:
            run("DELETE FROM provider_logins WHERE expires < ?", now)
            run(
                "DELETE FROM provider_logins WHERE hash IN (SELECT hash FROM provider_logins ORDER BY expires DESC LIMIT 1000000 OFFSET ?)",
                _MOST - 1,
            )
            run("INSERT INTO provider_logins (hash, following, expires) VALUES (?, ?, ?)", digest(browser), following, now + seconds)

    def end(self, browser: str) -> str | None:
        """The path that a browser wanted; None if it was not sent, came back before, or took too long."""
        with self._database.writing() as run:
            found = run("DELETE FROM provider_logins WHERE hash = ? RETURNING following, expires", digest(browser))
        return str(found[0][0]) if found and found[0][1] >= time.time() else None

    def account_of(self, identity: str, name: str, create: bool, owners: bool) -> Account | None:
        """The account of an identity: the one that it has, else that of this name if no other identity has it, else perhaps a new one."""
        known = self._database.rows("SELECT account FROM identities WHERE hash = ?", digest(identity))
        account = self._accounts.get(str(known[0][0]) if known else name)
        if account is not None and account.role == "owner" and not owners:
            return None
        if known or (account is None and not create):
            return account
        if account is None:
            account = self._accounts.add(name, "analyst", None)
        with self._database.writing() as run:
            if run("SELECT 1 FROM identities WHERE account = ? OR hash = ?", account.name, digest(identity)):
                raise Invalid("this account belongs to another identity")
            run("INSERT INTO identities (hash, account) VALUES (?, ?)", digest(identity), account.name)
            audit.add(run, account.name, "login provider linked")
        return account
