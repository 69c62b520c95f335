"""Log in through an OpenID Connect provider: the authorization code flow with PKCE, for accounts that an owner has added.

The provider says who somebody is; what they may do stays with the account. Nothing that a provider sends is shown or logged.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final
from urllib.parse import urlsplit

import httpx
from attrs import field, frozen
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.jwk import KeySet

from discreet.errors import Invalid
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.secret import digest, new_secret, same

_LASTS = 600.0  # seconds in which somebody must come back from the provider
_MOST = 1000  # logins that are under way
_SECONDS = 10.0  # for which the provider is waited for
_ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")  # with public keys only: never "none", never a shared secret
FAILED = "the login with your provider did not work: try again, or log in with your password"


@final
@frozen
class Provider:
    """A provider, and this server as its client. `claim` of an identity is the name of the account."""

    issuer: str
    client: str
    secret: str = field(repr=False)
    back: str  # where the provider sends people back to: https://…/oidc/back
    claim: str = "email"

    def __attrs_post_init__(self) -> None:
        for place in (self.issuer, self.back):
            parts = urlsplit(place)
            if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
                raise Invalid("the addresses of a login provider begin with https://")


@final
@frozen
class Begun:
    """A login that is under way: what must come back, as hashes where that is enough."""

    browser: str
    nonce: str
    verifier: str = field(repr=False)
    expires: float


@final
class Oidc:
    """Logins through one provider. Those under way are kept in memory: whoever comes back after a restart begins again."""

    def __init__(self, provider: Provider, accounts: Accounts) -> None:
        self._provider, self._accounts, self._lock = provider, accounts, threading.Lock()
        self._begun: OrderedDict[str, Begun] = OrderedDict()
        self._found: dict[str, Any] | None = None

    def begin(self) -> tuple[str, str]:
        """Where to send a browser, and a cookie that it must have when it comes back: a login belongs to who began it."""
        state, browser, nonce, verifier = new_secret(), new_secret(), new_secret(), new_secret(320)
        with _dropped(), self._client() as client:
            url, _ = client.create_authorization_url(
                self._places()["authorization_endpoint"], state=state, code_verifier=verifier, nonce=nonce
            )
        with self._lock:
            self._begun[digest(state)] = Begun(digest(browser), nonce, verifier, time.time() + _LASTS)
            while len(self._begun) > _MOST:
                self._begun.popitem(last=False)
        return str(url), browser

    def end(self, code: str, state: str, browser: str) -> Account:
        """The account of who came back; Invalid, always with the same words, if anything is not as it should be."""
        with self._lock:
            begun = self._begun.pop(digest(state), None)  # once
        if begun is None or begun.expires < time.time() or not same(begun.browser, digest(browser)):
            raise Invalid(FAILED)
        with _dropped(), self._client() as client:
            token = client.fetch_token(self._places()["token_endpoint"], code=code, code_verifier=begun.verifier)
            claims = self._claims(str(token["id_token"]), begun.nonce)
            name = claims[self._provider.claim]
            if self._provider.claim == "email" and claims.get("email_verified") is not True:
                raise Invalid(FAILED)
            account = self._accounts.get(name) if isinstance(name, str) else None
        if account is None:
            raise Invalid(FAILED)  # whether there is an account is not told
        return account

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """What the provider says about who logged in, once its signature and purpose are checked."""
        keys = KeySet.import_key_set({"keys": list(_fetched(self._places()["jwks_uri"])["keys"])})  # each time, for keys change
        decoded = jwt.decode(token, keys, algorithms=_ALGORITHMS)
        provider = self._provider
        registry = jwt.JWTClaimsRegistry(
            leeway=60,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        )
        claims: dict[str, Any] = decoded.claims
        registry.validate(claims)
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if claims.get("azp", provider.client) != provider.client or (len(audience) > 1 and "azp" not in claims):
            raise Invalid(FAILED)
        if not same(str(claims.get("nonce", "")), nonce):
            raise Invalid(FAILED)
        return claims

    def _places(self) -> dict[str, str]:
        """Where the provider does what; it is asked once."""
        if self._found is None:
            found = _fetched(f"{self._provider.issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != self._provider.issuer:
                raise Invalid(FAILED)
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                parts = urlsplit(str(found[name]))
                if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
                    raise Invalid(FAILED)
            self._found = found
        return self._found

    def _client(self) -> Any:
        provider = self._provider
        return OAuth2Client(
            provider.client,
            provider.secret,
            scope="openid email profile",
            redirect_uri=provider.back,
            code_challenge_method="S256",
            timeout=_SECONDS,
        )


@contextmanager
def _dropped() -> Iterator[None]:
    """Whatever fails inside is one Invalid: what a provider or a library says may contain codes and tokens."""
    try:
        yield
    except Exception:
        raise Invalid(FAILED) from None


def _fetched(url: str) -> dict[str, Any]:
    found = httpx.get(url, timeout=_SECONDS, follow_redirects=False)
    found.raise_for_status()
    said = found.json()
    return said if isinstance(said, dict) else {}
