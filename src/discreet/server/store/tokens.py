"""API tokens: random, shown once, stored as hashes, with a scope, perhaps for some data sets only, expiring and revocable."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, final, get_args

from attrs import frozen

from discreet.errors import Invalid
from discreet.server.store import audit
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import Database
from discreet.server.store.scram import Verifier, salt_of
from discreet.server.store.secret import digest, new_secret, same

Scope: TypeAlias = Literal["read", "ask", "all"]
SCOPES: tuple[Scope, ...] = get_args(Scope)  # read: look; ask: also spend; all: what the account may do
_PREFIX = "disc"
_LONGEST_DAYS = 366
_COLUMNS = "id, account, label, scope, datasets, created, expires, revoked"


@final
@frozen
class Token:
    """A token, without its secret."""

    id: str
    account: str
    label: str
    scope: Scope
    datasets: tuple[str, ...] | None  # None: all that its account may use
    created: float
    expires: float
    revoked: bool

    @property
    def live(self) -> bool:
        """Whether it can still be used."""
        return not self.revoked and time.time() < self.expires


@final
class Tokens:
    """The tokens of one server."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database, self._accounts = database, accounts

    def add(
        self, account: str, label: str, scope: Scope, days: int, datasets: Sequence[str] | None, by: str, within: Token | None = None
    ) -> tuple[Token, str]:
        """Create a token; the text is shown now and never again. One that is made with another token cannot do more, nor live longer."""
        if scope not in SCOPES:
            raise Invalid(f"the scope of a token is one of {', '.join(SCOPES)}")
        if not 1 <= days <= _LONGEST_DAYS:
            raise Invalid(f"a token lasts 1 to {_LONGEST_DAYS} days")
        if not label.isprintable() or not 0 < len(label) <= 100:
            raise Invalid("a token has a label of up to 100 printable characters, which says what it is for")
        if self._accounts.get(account) is None:
            raise Invalid("there is no such account: check the name")
        some = None if datasets is None else tuple(datasets)
        now = time.time()
        ends = now + days * 86400
        if within is not None:
            some, ends = _narrowed(some, within), min(ends, within.expires)
        made = Token(new_secret(50), account, label, scope, some, now, ends, False)
        secret = new_secret(200)
        text = f"{_PREFIX}_{made.id}_{secret}"
        verifier = Verifier.of(text, self.salt(account)).to_text()
        listed = None if made.datasets is None else json.dumps(made.datasets)
        with self._database.writing() as run:
            run(
                "INSERT INTO tokens (id, hash, account, label, scope, datasets, created, expires, scram) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(made.id, digest(secret), account, label, scope, listed, made.created, made.expires, verifier),
            )
            audit.add(run, by, "token made", f"{made.id} for {account}, scope {scope}, {days} days")
        return made, text

    def of(self, account: str) -> list[Token]:
        """The tokens of an account, newest first."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM tokens WHERE account = ? ORDER BY created DESC", account)
        return [_token(row) for row in rows]

    def revoke(self, token: str, by: str, account: str | None = None) -> None:
        """End a token; with `account`, only one of its own."""
        with self._database.writing() as run:
            mine, values = ("", ()) if account is None else (" AND account = ?", (account,))
            if not run(f"UPDATE tokens SET revoked = 1 WHERE id = ?{mine} RETURNING id", token, *values):
                raise Invalid("there is no such token: check its number")
            audit.add(run, by, "token revoked", token)

    def holder(self, text: str) -> tuple[Account, Token] | None:
        """The account and the token behind a text, if it is good."""
        parts = text.split("_")
        if len(parts) != 3 or parts[0] != _PREFIX:
            return None
        rows = self._database.rows(f"SELECT {_COLUMNS}, hash FROM tokens WHERE id = ?", parts[1])
        if not rows or not same(str(rows[0][-1]), digest(parts[2])):
            return None
        token = _token(rows[0][:-1])
        account = self._accounts.get(token.account)
        return None if account is None or not token.live else (account, token)

    # ── logins by SCRAM ──────────────────────────────────────────────────────────────────────────────────────────────

    def salt(self, account: str) -> bytes:
        """The salt of all verifiers of an account. It follows from its name, whether or not there is such an account."""
        return salt_of(self._salting(), account)

    def verifiers(self, account: str) -> list[tuple[Token, Verifier]]:
        """The live tokens of an account with their verifiers; tokens that were made before there were any have none."""
        rows = self._database.rows(f"SELECT {_COLUMNS}, scram FROM tokens WHERE account = ? AND scram IS NOT NULL", account)
        return [(token, Verifier.from_text(str(row[-1]))) for row in rows if (token := _token(row[:-1])).live]

    def by_id(self, number: str) -> tuple[Account, Token] | None:
        """The account and the token of a number, if it is still good."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM tokens WHERE id = ?", number)
        token = _token(rows[0]) if rows else None
        account = None if token is None else self._accounts.get(token.account)
        return None if token is None or account is None or not token.live else (account, token)

    def _salting(self) -> str:
        """A random value of this server, made when it is first needed; who knows it can tell salts, and nothing else."""
        found = self._database.rows("SELECT value FROM salts WHERE name = 'tokens'")
        if not found:
            with self._database.writing() as run:
                run("INSERT INTO salts (name, value) VALUES ('tokens', ?) ON CONFLICT (name) DO NOTHING", new_secret(200))
                found = run("SELECT value FROM salts WHERE name = 'tokens'")
        return str(found[0][0])


def _narrowed(datasets: tuple[str, ...] | None, within: Token) -> tuple[str, ...] | None:
    if within.datasets is None or datasets is None:
        return within.datasets if datasets is None else datasets
    if not set(datasets) <= set(within.datasets):
        raise Invalid("this token is for some data sets only, and so are those that it makes: leave the others out")
    return datasets


def _token(row: Any) -> Token:
    number, account, label, scope, datasets, created, expires, revoked = row
    return Token(number, account, label, scope, None if datasets is None else tuple(json.loads(datasets)), created, expires, bool(revoked))
