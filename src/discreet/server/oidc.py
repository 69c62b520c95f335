"""Log in through an OpenID Connect provider: the authorization code flow with PKCE, for accounts that an owner
has added or, if the settings say so, that are made as analysts at the first login.

The provider says who somebody is; what they may do stays with the account. Nothing that a provider sends is shown or logged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import httpx
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.jwk import KeySet

from discreet.errors import Invalid
from discreet.server.provider import Provider, is_safe
from discreet.server.store.accounts import Account
from discreet.server.store.identities import Identities
from discreet.server.store.secret import digest, new_secret, same

_LASTS = 600.0  # seconds in which somebody must come back from the provider
_SECONDS = 10.0  # for which the provider is waited for
_AT_ONCE = 8  # people for whom the provider is being asked
_ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")  # with public keys only: never "none", never a shared secret
FAILED = "the login with your provider did not work: try again, or log in with your password"


@final
class Oidc:
    """Logins through one provider.

    State, nonce and PKCE verifier all follow from one random cookie, by hashing, and its hash is stored until it comes back, once. So a
    login belongs to the browser that began it, any instance can end it, and no file holds a secret.
    """

    def __init__(self, provider: Provider, identities: Identities) -> None:
        self.provider, self._identities = provider, identities
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        self._found: dict[str, Any] | None = None

    def begin(self, following: str = "/") -> tuple[str, str]:
        """Where to send a browser, and a cookie that it must have when it comes back."""
        browser = new_secret()
        with self._asking(), self._client() as client:
            url, _ = client.create_authorization_url(
                self._places()["authorization_endpoint"],
                state=_part("state", browser),
                nonce=_part("nonce", browser),
                code_verifier=_part("verifier", browser),
            )
        self._identities.begin(browser, following, _LASTS)
        return str(url), browser

    def end(self, code: str, state: str, browser: str, issuer: str | None = None) -> tuple[Account, str]:
        """Who came back, and the path to go on to; Invalid, always with the same words, if anything is not as it should be."""
        following = self._identities.end(browser)  # once, whatever comes of it
        if following is None or not same(state, _part("state", browser)) or issuer not in (None, self.provider.issuer):
            raise Invalid(FAILED)
        with self._asking(), self._client() as client:
            token = client.fetch_token(self._places()["token_endpoint"], code=code, code_verifier=_part("verifier", browser))
            claims = self._claims(str(token["id_token"]), _part("nonce", browser))
            identity, name = f"{claims['iss']}\n{claims['sub']}", self._name(claims)
            account = self._identities.account_of(identity, name, self.provider.create, self.provider.owners)
        if account is None:
            raise Invalid(FAILED)  # whether there is an account is not told
        return account, following

    def _name(self, claims: dict[str, Any]) -> str:
        """The name of an account for who has these claims; Invalid if they may not come."""
        provider, name, email = self.provider, claims.get(self.provider.claim), claims.get("email")
        if (provider.claim == "email" or provider.domains) and (not isinstance(email, str) or claims.get("email_verified") is not True):
            raise Invalid(FAILED)
        if provider.domains and str(email).rpartition("@")[2].casefold() not in provider.domains:
            raise Invalid(FAILED)
        for claim, wanted in provider.require:
            held = claims.get(claim)
            if wanted not in (held if isinstance(held, list) else [held]):
                raise Invalid(FAILED)
        if not isinstance(name, str):
            raise Invalid(FAILED)
        return name

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """What the provider says about who logged in, once its signature and purpose are checked."""
        keys = KeySet.import_key_set({"keys": list(_fetched(self._places()["jwks_uri"])["keys"])})  # each time, for keys change
        decoded = jwt.decode(token, keys, algorithms=_ALGORITHMS)
        provider = self.provider
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
            found = _fetched(f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != self.provider.issuer:
                raise Invalid(FAILED)
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not is_safe(str(found[name])):
                    raise Invalid(FAILED)
            self._found = found
        return self._found

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Ask for a few people at a time. Whatever fails is one Invalid: what a provider or a library says may contain codes."""
        if not self._free.acquire(blocking=False):
            raise Invalid(FAILED)
        try:
            yield
        except Exception:
            raise Invalid(FAILED) from None
        finally:
            self._free.release()

    def _client(self) -> Any:
        provider = self.provider
        return OAuth2Client(
            provider.client,
            provider.secret,
            scope="openid email profile",
            redirect_uri=provider.back,
            code_challenge_method="S256",
            timeout=_SECONDS,
        )


def _part(name: str, browser: str) -> str:
    """A value that follows from a cookie and tells nothing about it, nor about the other ones."""
    return digest(f"{name} of {browser}")


def _fetched(url: str) -> dict[str, Any]:
    found = httpx.get(url, timeout=_SECONDS, follow_redirects=False)
    found.raise_for_status()
    said = found.json()
    return said if isinstance(said, dict) else {}
