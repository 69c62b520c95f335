"""Every route of the application, with what it needs and a request that it would accept: tests of access enumerate them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen
from fastapi import FastAPI
from fastapi.routing import APIRoute
from server.clinic import asked
from starlette.routing import BaseRoute, Mount, Route

from discreet.server.access import needs_of

# open to everybody, by decision: they tell nothing about data, accounts or budgets
OPEN = {
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/api/openapi.json"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/welcome/{link}"),
    ("POST", "/welcome/{link}"),
    ("GET", "/static/{name}"),
    ("GET", "/login/oidc"),
    ("GET", "/login/oidc/back"),
}
# bodies that the routes accept, so that nothing but access stands in the way
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/v1/datasets/{name}/plans"): asked(),
    ("POST", "/api/v1/datasets/{name}/prices"): {"request": asked()["request"], "error": {"n": 50}},
    ("POST", "/api/v1/datasets/{name}/releases"): asked(),
    ("POST", "/api/v1/datasets/{name}/requests"): {"request": asked()["request"]},
    ("POST", "/api/v1/datasets/{name}/confidences"): asked() | {"confidence": 0.9},
    ("POST", "/api/v1/datasets/{name}/verifications"): {"release": "{}"},
    ("POST", "/api/v1/datasets/{name}/runs"): {"request": [["watch", [], {"threshold": 100}]], "price": {"epsilon": 0.1}},
    ("POST", "/api/v1/datasets/{name}/grants"): {"account": "ann", "epsilon": 3, "delta": "1e-7"},
    ("POST", "/api/v1/accounts"): {"name": "zoe"},
    ("POST", "/api/v1/tokens"): {"label": "another"},
    ("POST", "/api/v1/runs/{number}"): {"step": "state"},
    ("POST", "/api/v1/jobs/{number}/shares"): {"account": "bob"},
}


@frozen
class Door:
    """One method of one route."""

    method: str
    path: str
    by: str | None  # "token", "login", or None if it is open
    roles: tuple[str, ...]
    scope: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def url(self) -> str:
        """Its path with names of things that exist, as far as they are known beforehand."""
        filled = self.path.replace("{name}", "clinic" if "/datasets/" in self.path else "bob")
        return re.sub(r"\{[^}]*\}", "nothing", filled)

    @property
    def body(self) -> Any:
        return BODIES.get((self.method, self.path))


def doors(app: FastAPI) -> list[Door]:
    """All of them; a route of a kind that is not known here is an error, so that none is left out."""
    return [door for route in _routes(app.routes) for door in _of(route)]


def _routes(routes: list[BaseRoute]) -> Iterator[BaseRoute]:
    """Routes, also those of routers that were included, which newer versions of FastAPI keep together."""
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            assert not route.include_context.prefix, "add the prefix of an included router here"  # type: ignore[attr-defined]
            yield from _routes(included.routes)
        else:
            yield route


def _of(route: BaseRoute) -> Iterator[Door]:
    if isinstance(route, Mount):
        assert not isinstance(route.app, FastAPI), "enumerate mounted applications here"
        yield Door("GET", route.path, None, (), "")
        return
    assert isinstance(route, Route), f"a route of another kind: {route!r}"
    by, roles, scope = (needs_of(route) if isinstance(route, APIRoute) else None) or (None, (), "")
    for method in sorted((route.methods or set()) - {"HEAD"}):
        yield Door(method, route.path, by, roles, scope)
