"""OpenID Connect: the whole flow against a tiny provider, and everything that a wrong provider, browser or thief could send."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from server.clinic import make_server

from discreet.errors import Invalid
from discreet.server import oidc as module
from discreet.server.app import application
from discreet.server.oidc import FAILED, Oidc
from discreet.server.provider import Provider
from discreet.server.store import audit, identities
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database, open_database
from discreet.server.store.identities import Identities

BACK = "http://127.0.0.1/login/oidc/back"


class Fake:
    """A provider that says what the test wants it to say."""

    def __init__(self) -> None:
        self.key: Any = RSAKey.generate_key(2048, {"kid": "one"})
        self.claims: dict[str, Any] = {"email": "ann@example.org", "email_verified": True}
        self.algorithm, self.signing = "RS256", self.key
        self.nonce = self.challenge = ""
        self.asked: list[dict[str, list[str]]] = []
        self.issuer = ""

    def answer(self, path: str, body: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        match path:
            case "/.well-known/openid-configuration":
                places = {"authorization_endpoint": "/login", "token_endpoint": "/token", "jwks_uri": "/keys"}
                return 200, {"issuer": self.issuer} | {name: self.issuer + place for name, place in places.items()}
            case "/keys":
                return 200, {"keys": [self.key.as_dict(private=False)]}
            case "/token":
                self.asked.append(body)
                hashed = hashlib.sha256(body.get("code_verifier", [""])[0].encode()).digest()
                if body.get("code") != ["good"] or base64.urlsafe_b64encode(hashed).decode().rstrip("=") != self.challenge:
                    return 400, {"error": "invalid_grant"}
                return 200, {"access_token": "x", "token_type": "Bearer", "id_token": self.token()}
        return 404, {}

    def token(self) -> str:
        now = int(time.time())
        said = {"iss": self.issuer, "aud": "us", "sub": "7", "iat": now, "exp": now + 60, "nonce": self.nonce} | self.claims
        kept = {name: value for name, value in said.items() if value is not None}
        if self.algorithm == "none":
            parts = ({"alg": "none", "kid": "one"}, kept)
            return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts) + "."
        return jwt.encode({"alg": self.algorithm, "kid": "one"}, kept, self.signing, algorithms=[self.algorithm])

    def visited(self, url: str) -> str:
        """Somebody logs in at the provider; the state that they take back."""
        sent = parse_qs(urlsplit(url).query)
        assert sent["code_challenge_method"] == ["S256"]
        assert sent["redirect_uri"] == [BACK]
        assert "openid" in sent["scope"][0]
        self.nonce, self.challenge = sent["nonce"][0], sent["code_challenge"][0]
        return sent["state"][0]


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    provider = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.say(*provider.answer(self.path, {}))

        def do_POST(self) -> None:
            self.say(*provider.answer(self.path, parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())))

        def say(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield provider
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def said(fake: Fake) -> Fake:
    """The provider, saying again what it says by itself."""
    fake.claims = {"email": "ann@example.org", "email_verified": True}
    fake.algorithm, fake.signing = "RS256", fake.key
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


# ── as browsers see it ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def browser(said: Fake, tmp_path: Path) -> Iterator[TestClient]:
    provider = Provider(said.issuer, "us", "a client's secret", BACK, create=True, domains=("example.org",))
    served = make_server(tmp_path, provider=provider)
    with TestClient(application(served.server), follow_redirects=False) as found:
        yield found


def test_a_browser_goes_there_and_back(browser: TestClient, fake: Fake) -> None:
    page = browser.get("/login?next=/d/clinic/ask").text
    assert 'href="/login/oidc?next=/d/clinic/ask">Log in with 127.0.0.1</a>' in page
    sent = browser.get("/login/oidc?next=/d/clinic/ask")
    assert sent.headers["location"].startswith(f"{fake.issuer}/login?")
    assert "HttpOnly" in sent.headers["set-cookie"]
    assert "SameSite=lax" in sent.headers["set-cookie"]
    back = browser.get("/login/oidc/back", params={"code": "good", "state": fake.visited(sent.headers["location"])})
    assert (back.status_code, back.headers["location"]) == (303, "/d/clinic/ask")
    home = browser.get("/")
    assert home.status_code == 200
    assert "ann@example.org" in home.text
    assert "/d/clinic" not in home.text  # an account without a grant sees no data set
    events = audit.entries(browser.app.state.server.database)  # type: ignore[attr-defined]
    assert [(one.event, one.account, one.detail) for one in events][-3:] == [
        ("account added", None, "ann@example.org as analyst"),
        ("login provider linked", "ann@example.org", ""),
        ("logged in", "ann@example.org", "through the login provider"),
    ]


@pytest.mark.parametrize("query", [{}, {"error": "access_denied"}, {"code": "good"}, {"code": "good", "state": "é" * 100}], ids=str)
def test_a_browser_that_comes_back_wrongly_reads_one_sentence(browser: TestClient, fake: Fake, query: dict[str, str]) -> None:
    fake.visited(browser.get("/login/oidc").headers["location"])
    back = browser.get("/login/oidc/back", params=query)
    assert back.status_code == 403
    assert FAILED in back.text
    assert browser.get("/").status_code == 303
    assert audit.entries(browser.app.state.server.database)[-1].event == "login refused"  # type: ignore[attr-defined]


def test_a_replayed_return_is_refused(browser: TestClient, fake: Fake) -> None:
    sent = browser.get("/login/oidc")
    address, cookies = "/login/oidc/back?code=good&state=" + fake.visited(sent.headers["location"]), dict(browser.cookies)
    assert browser.get(address).status_code == 303
    browser.cookies.clear()
    browser.cookies.update(cookies)
    assert browser.get(address).status_code == 403


def test_without_a_provider_there_is_nothing_here(client: TestClient) -> None:
    assert "Log in with" not in client.get("/login").text
    assert client.get("/login/oidc").status_code == client.get("/login/oidc/back").status_code == 404
