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
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from discreet.errors import Invalid
from discreet.server import oidc as module
from discreet.server.oidc import FAILED, Oidc, Provider
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database


class Fake:
    """A provider that says what the test wants it to say."""

    def __init__(self) -> None:
        self.key = ECKey.generate_key("P-256", {"kid": "one"})
        self.claims: dict[str, Any] = {"email": "ann@example.org", "email_verified": True}
        self.algorithm, self.signing = "ES256", self.key
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
        return jwt.encode({"alg": self.algorithm, "kid": "one"}, kept, self.signing, algorithms=[self.algorithm])

    def visited(self, url: str) -> str:
        """Somebody logs in at the provider; the state that they take back."""
        sent = parse_qs(urlsplit(url).query)
        assert sent["code_challenge_method"] == ["S256"]
        assert sent["redirect_uri"] == ["http://127.0.0.1/oidc/back"]
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
def oidc(fake: Fake, tmp_path: Path) -> Iterator[Oidc]:
    fresh = Fake()
    for name in ("claims", "algorithm"):
        setattr(fake, name, getattr(fresh, name))
    fake.signing = fake.key
    database = open_database(tmp_path / "server.db")
    accounts = Accounts(database)
    accounts.add("owner", "owner", None)
    accounts.add("ann@example.org", "analyst", "owner")
    yield Oidc(Provider(fake.issuer, "us", "a client's secret", "http://127.0.0.1/oidc/back"), accounts)
    database.close()


def logged_in(oidc: Oidc, fake: Fake, code: str = "good") -> str:
    url, browser = oidc.begin()
    return oidc.end(code, fake.visited(url), browser).name


def test_there_and_back(oidc: Oidc, fake: Fake) -> None:
    assert logged_in(oidc, fake) == "ann@example.org"
    assert "secret" not in repr(oidc._provider)


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
    fake.signing = ECKey.generate_key("P-256", {"kid": "one"})
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)
    fake.algorithm, fake.signing = "HS256", OctKey.import_key("a client's secret, that is long enough for a key")  # type: ignore[assignment]
    with pytest.raises(Invalid, match=FAILED):
        logged_in(oidc, fake)


def test_a_login_belongs_to_the_browser_that_began_it(oidc: Oidc, fake: Fake) -> None:
    url, browser = oidc.begin()
    _, other = oidc.begin()
    state = fake.visited(url)
    for wrong in ("", other, state):
        with pytest.raises(Invalid, match=FAILED):
            oidc.end("good", state, wrong)
    with pytest.raises(Invalid, match=FAILED):  # it was used up by the first attempt
        oidc.end("good", state, browser)


def test_a_login_is_for_once_and_for_a_while(oidc: Oidc, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    url, browser = oidc.begin()
    state = fake.visited(url)
    assert oidc.end("good", state, browser).name == "ann@example.org"
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


def test_a_provider_that_is_away(fake: Fake, oidc: Oidc) -> None:
    away = Oidc(Provider("http://127.0.0.1:1", "us", "x", "http://127.0.0.1/oidc/back"), oidc._accounts)
    with pytest.raises(Invalid, match=FAILED):
        away.begin()
    other = Oidc(Provider(f"{fake.issuer}/", "us", "x", "http://127.0.0.1/oidc/back"), oidc._accounts)
    with pytest.raises(Invalid, match=FAILED):  # it says that it is somebody else
        other.begin()


def test_memory_is_bounded_and_addresses_are_safe(oidc: Oidc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    for _ in range(10):
        oidc.begin()
    assert len(oidc._begun) == 3
    with pytest.raises(Invalid, match="https"):
        Provider("http://login.example", "us", "x", "https://dp.example/oidc/back")
    with pytest.raises(Invalid, match="https"):
        Provider("https://login.example", "us", "x", "http://dp.example/oidc/back")
