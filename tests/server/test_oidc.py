"""OpenID Connect: the whole flow against a tiny provider, and everything that a wrong provider, browser or thief could send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey
from server.login_provider import BACK, Fake, running

from discreet.errors import Invalid
from discreet.server import oidc as module
from discreet.server.oidc import FAILED, Oidc
from discreet.server.provider import Provider
from discreet.server.store import audit, identities
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database, open_database
from discreet.server.store.identities import Identities


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    with running() as found:
        yield found


@pytest.fixture
def said(fake: Fake) -> Fake:
    """The provider, saying again what it says by itself."""
    fake.reset()
    return fake


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An owner, and ann, whom the owner added."""
    found = open_database(tmp_path / "server.db")
    accounts = Accounts(found)
    accounts.add("owner", "owner", None)
    accounts.add("ann@example.org", "analyst", "owner")
    yield found
    found.close()


@pytest.fixture
def oidc(said: Fake, database: Database) -> Oidc:
    return made(said, database)


def made(fake: Fake, database: Database, **settings: Any) -> Oidc:
    provider = Provider(fake.issuer, "us", "a client's secret", BACK, **settings)
    return Oidc(provider, Identities(database, Accounts(database)))


def logged_in(oidc: Oidc, fake: Fake, code: str = "good") -> str:
    url, browser = oidc.begin()
    return oidc.end(code, fake.visited(url), browser)[0].name


def test_there_and_back(oidc: Oidc, fake: Fake) -> None:
    assert logged_in(oidc, fake) == "ann@example.org"
    assert "secret" not in repr(oidc.provider)


def test_keys_on_a_curve(oidc: Oidc, fake: Fake) -> None:
    before, fake.key = fake.key, ECKey.generate_key("P-256", {"kid": "one"})
    fake.algorithm, fake.signing = "ES256", fake.key
    try:
        assert logged_in(oidc, fake) == "ann@example.org"
    finally:
        fake.key = before


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "somebody else"},
        {"aud": ["us", "somebody else"]},
        {"azp": "somebody else"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": None},
        {"email": None},
        {"email": "nobody@example.org"},
        {"email": "ANN@example.org"},
        {"email": ["ann@example.org"]},
        {"email": "owner' OR 1=1 --"},
    ],
    ids=str,
)
def test_what_a_provider_must_not_say(oidc: Oidc, fake: Fake, claims: dict[str, Any]) -> None:
    fake.claims = fake.claims | claims
    with pytest.raises(Invalid) as error:
        logged_in(oidc, fake)
    assert str(error.value) == FAILED
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_signatures_of_others(oidc: Oidc, fake: Fake) -> None:
    fake.signing = RSAKey.generate_key(2048, {"kid": "one"})
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)
    fake.algorithm, fake.signing = "HS256", OctKey.import_key("a client's secret, that is long enough for a key")
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)
    fake.algorithm = "none"
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)


def test_a_login_belongs_to_the_browser_that_began_it(oidc: Oidc, fake: Fake) -> None:
    url, browser = oidc.begin()
    _, other = oidc.begin()
    state = fake.visited(url)
    for wrong in ("", other, state):
        with pytest.raises(Invalid, match=FAILED):
            oidc.end("good", state, wrong)
    with pytest.raises(Invalid, match=FAILED):
        oidc.end("good", "another state", browser)
    with pytest.raises(Invalid, match=FAILED):  # it was used up by that attempt
        oidc.end("good", state, browser)


def test_an_answer_of_another_provider(oidc: Oidc, fake: Fake) -> None:
    url, browser = oidc.begin()
    with pytest.raises(Invalid, match=FAILED):
        oidc.end("good", fake.visited(url), browser, "https://evil.example")
    url, browser = oidc.begin()
    assert oidc.end("good", fake.visited(url), browser, fake.issuer)[0].name == "ann@example.org"


def test_a_login_is_for_once_and_for_a_while(oidc: Oidc, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    url, browser = oidc.begin()
    state = fake.visited(url)
    assert oidc.end("good", state, browser)[0].name == "ann@example.org"
    with pytest.raises(Invalid, match=FAILED):
        oidc.end("good", state, browser)
    monkeypatch.setattr(module, "_LASTS", -1.0)
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)


def test_codes_that_are_wrong_or_stolen(oidc: Oidc, fake: Fake) -> None:
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake, "wrong")
    url, _ = oidc.begin()
    fake.visited(url)  # the code that the victim gets is for her challenge
    thief, browser = oidc.begin()
    with pytest.raises(Invalid, match=FAILED):
        oidc.end("good", parse_qs(urlsplit(thief).query)["state"][0], browser)


def test_a_provider_that_is_away(oidc: Oidc, fake: Fake, database: Database) -> None:
    people = Identities(database, Accounts(database))
    with pytest.raises(Invalid, match=FAILED):
        Oidc(Provider("http://127.0.0.1:1", "us", "x", BACK), people).begin()
    with pytest.raises(Invalid, match=FAILED):  # it says that it is somebody else
        Oidc(Provider(f"{fake.issuer}/", "us", "x", BACK), people).begin()


def test_memory_is_bounded_and_addresses_are_safe(oidc: Oidc, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identities, "_MOST", 3)
    for _ in range(10):
        oidc.begin()
    assert database.rows("SELECT count(*) FROM provider_logins") == [(3,)]
    with pytest.raises(Invalid, match="https"):
        Provider("http://login.example", "us", "x", "https://dp.example/login/oidc/back")
    with pytest.raises(Invalid, match="https"):
        Provider("https://login.example", "us", "x", "http://dp.example/login/oidc/back")


# ── whose account it is ──────────────────────────────────────────────────────────────────────────────────────────────


def test_another_instance_ends_what_one_began(oidc: Oidc, fake: Fake, database: Database) -> None:
    url, browser = oidc.begin("/d/clinic")
    account, following = made(fake, database).end("good", fake.visited(url), browser)
    assert (account.name, following) == ("ann@example.org", "/d/clinic")


def test_who_has_no_account_becomes_an_analyst_if_the_settings_say_so(said: Fake, database: Database) -> None:
    said.claims = {"sub": "8", "email": "zoe@example.org", "email_verified": True, "role": "owner"}
    with pytest.raises(Invalid, match=FAILED):
        logged_in(made(said, database), said)
    assert logged_in(made(said, database, create=True, domains=("example.org",)), said) == "zoe@example.org"
    found = Accounts(database).get("zoe@example.org")
    assert found is not None
    assert (found.role, found.has_password) == ("analyst", False)
    assert [one.event for one in audit.entries(database)][-2:] == ["account added", "login provider linked"]


@pytest.mark.parametrize(
    ("claims", "comes"),
    [
        ({}, True),
        ({"groups": "analysts"}, True),
        ({"email": "zoe@EXAMPLE.org"}, True),
        ({"groups": ["others"]}, False),
        ({"groups": None}, False),
        ({"email": "zoe@evil.example"}, False),
        ({"email": "zoe@example.org@evil.example"}, False),
        ({"email": "zoe@sub.example.org"}, False),
        ({"email_verified": False}, False),
        ({"email": "owner"}, False),
    ],
    ids=str,
)
def test_who_may_come(said: Fake, database: Database, claims: dict[str, Any], comes: bool) -> None:
    said.claims = {"sub": "8", "email": "zoe@example.org", "email_verified": True, "groups": ["others", "analysts"]} | claims
    oidc = made(said, database, create=True, domains=("example.org",), require=(("groups", "analysts"),))
    if comes:
        assert logged_in(oidc, said).casefold() == "zoe@example.org"
    else:
        with pytest.raises(Invalid, match=FAILED):
            logged_in(oidc, said)
        assert len(Accounts(database).all()) == 2


def test_an_account_stays_with_the_identity_that_came_first(oidc: Oidc, fake: Fake, database: Database) -> None:
    assert logged_in(oidc, fake) == "ann@example.org"
    fake.claims = {"sub": "8", "email": "ann@example.org", "email_verified": True}  # the address was given to somebody else
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)
    fake.claims = {"email": "ann.new@example.org", "email_verified": True}  # and the first person has a new one
    assert logged_in(oidc, fake) == "ann@example.org"
    Accounts(database).disable("ann@example.org", "owner")
    with pytest.raises(Invalid, match=FAILED):
        logged_in(made(fake, database, create=True, domains=("example.org",)), fake)


def test_owners_come_with_a_password_unless_the_settings_say_otherwise(said: Fake, database: Database) -> None:
    said.claims = {"preferred_username": "owner", "sub": "9"}
    with pytest.raises(Invalid, match=FAILED):
        logged_in(made(said, database, claim="preferred_username", create=True, require=(("sub", "9"),)), said)
    assert logged_in(made(said, database, claim="preferred_username", owners=True), said) == "owner"
