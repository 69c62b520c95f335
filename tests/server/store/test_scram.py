"""What is stored for logins by SCRAM."""

from __future__ import annotations

import base64

from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database
from discreet.server.store.scram import Verifier, salt_of
from discreet.server.store.tokens import Tokens


def test_a_verifier_is_written_and_read() -> None:
    made = Verifier.of("pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="))
    assert Verifier.from_text(made.to_text()) == made
    assert made.stored != Verifier.of("pencil", b"another salt").stored


def test_salts_follow_from_names() -> None:
    assert salt_of("secret", "ann") == salt_of("secret", "ann")
    assert len({salt_of("secret", "ann"), salt_of("secret", "bob"), salt_of("other", "ann")}) == 3


def test_every_token_has_a_verifier_with_the_salt_of_its_account(database: Database, accounts: Accounts) -> None:
    tokens = Tokens(database, accounts)
    made = [tokens.add("ann", "a", "ask", 1, None, "ann") for _ in range(2)]
    known = {token.id: verifier for token, verifier in tokens.verifiers("ann")}
    assert known == {token.id: Verifier.of(text, tokens.salt("ann")) for token, text in made}
    assert Tokens(database, accounts).salt("nobody") == tokens.salt("nobody")  # always the same, though there is no such account
    tokens.revoke(made[0][0].id, "ann")
    assert [token.id for token, _ in tokens.verifiers("ann")] == [made[1][0].id]
    assert tokens.by_id(made[0][0].id) is None
    assert tokens.by_id(made[1][0].id) is not None


def test_tokens_from_before_have_none(database: Database, accounts: Accounts) -> None:
    tokens = Tokens(database, accounts)
    _, text = tokens.add("ann", "a", "ask", 1, None, "ann")
    with database.writing() as run:
        run("UPDATE tokens SET scram = NULL")
    assert tokens.verifiers("ann") == []
    assert tokens.holder(text) is not None  # over HTTP it goes on
