"""All routes of the console, and the few that are open to everybody."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.server.pages import (
    answering,
    asking,
    auditing,
    entering,
    looking,
    owning,
    questions,
    setting_up,
    synthesizing,
    talking,
    tokens,
)

_PARTS = (entering, looking, asking, answering, questions, synthesizing, talking, tokens, owning, setting_up, auditing)
ROUTERS: tuple[APIRouter, ...] = tuple(part.router for part in _PARTS)
# Everything else needs a login, and every form of a login needs its secret.
OPEN = frozenset(
    {
        ("GET", "/login"),
        ("POST", "/login"),
        ("GET", "/login/oidc"),
        ("GET", "/login/oidc/back"),
        ("GET", "/welcome/{link}"),
        ("POST", "/welcome/{link}"),
        ("GET", "/static/{name}"),
    }
)
