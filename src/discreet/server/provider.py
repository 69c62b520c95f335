"""The login provider of a server: the section `[oidc]` of its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final
from urllib.parse import urlsplit

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.tables.problems import Problems

KNOWN = ("issuer", "client_id", "client_secret_file", "claim", "domains", "require", "create", "owners")
SECRET = "DISCREET_OIDC_CLIENT_SECRET"
BACK = "/login/oidc/back"  # where the provider sends people back to
_NOT_SAFE = "must begin with https://, for passwords and codes pass through it"


@final
@frozen
class Provider:
    """A provider, this server as its client, and who may come through it."""

    issuer: str
    client: str
    secret: str = field(repr=False)
    back: str  # https://…/login/oidc/back
    claim: str = "email"  # what of an identity is the name of an account
    domains: tuple[str, ...] = ()  # of e-mail addresses; empty: any
    require: tuple[tuple[str, str], ...] = ()  # claims, and a value that each must have or contain
    create: bool = False  # whether who has no account becomes an analyst; else an owner adds accounts
    owners: bool = False  # whether owners may come this way, too

    def __attrs_post_init__(self) -> None:
        for place in (self.issuer, self.back):
            if not is_safe(place):
                raise Invalid("the addresses of a login provider begin with https://")

    @property
    def host(self) -> str:
        """The provider's name, as people see it."""
        return urlsplit(self.issuer).hostname or "your provider"


def is_safe(place: str) -> bool:
    """Whether nobody between here and there can listen: TLS, or this machine."""
    try:
        parts = urlsplit(place)
        return (parts.scheme == "https" and bool(parts.hostname)) or (
            parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        )
    except ValueError:
        return False


def read_provider(section: Any, base: Path, environment: Mapping[str, str], problems: Problems) -> dict[str, Any] | None:
    """The arguments of a Provider, without `back`; None, with problems recorded, if the section is not right."""
    before, found = len(problems.found), problems.known(section, "oidc", KNOWN)
    texts = {name: problems.text(found, "oidc", name) for name in ("issuer", "client_id", "client_secret_file", "claim")}
    for name in ("issuer", "client_id"):
        if name not in found:
            problems.add(f"oidc.{name}", "is missing")
    if texts["issuer"] and not is_safe(texts["issuer"]):
        problems.add("oidc.issuer", _NOT_SAFE)
    secret = environment.get(SECRET) or _of_file(texts["client_secret_file"], base, problems)
    if not secret and texts["client_secret_file"] is None:
        problems.add("oidc.client_secret_file", f"is missing; name a file with the client's secret, or set {SECRET}")
    domains, require = found.get("domains", []), found.get("require", {})
    if not isinstance(domains, list) or not all(isinstance(one, str) and one and "@" not in one for one in domains):
        problems.add("oidc.domains", 'must be a list of domains, as in ["example.org"]')
    if not isinstance(require, dict) or not all(isinstance(one, str) and one for one in require.values()):
        problems.add("oidc.require", 'must be claims with their values, as in { groups = "analysts" }')
    create, owners = (problems.boolean(found, "oidc", name, False) for name in ("create", "owners"))
    if create and not domains and not require:
        problems.add("oidc.create", "would give everybody whom the provider knows an account; say whom, with domains or require")
    if len(problems.found) > before:
        return None
    return {
        "issuer": texts["issuer"],
        "client": texts["client_id"],
        "secret": secret,
        "claim": texts["claim"] or "email",
        "domains": tuple(one.casefold() for one in domains),
        "require": tuple(require.items()),
        "create": create,
        "owners": owners,
    }


def _of_file(name: str | None, base: Path, problems: Problems) -> str:
    if name is None:
        return ""
    try:
        text = (base / os.path.expanduser(name)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text:
        problems.add("oidc.client_secret_file", "cannot be read or is empty")
    return text
