"""A tiny OpenID Connect provider in this process, which says what a test wants it to say."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

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

    def reset(self) -> None:
        """Say again what it says by itself."""
        self.claims = {"email": "ann@example.org", "email_verified": True}
        self.algorithm, self.signing = "RS256", self.key

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


@contextlib.contextmanager
def running() -> Iterator[Fake]:
    """A provider that answers on a port of this machine."""
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
