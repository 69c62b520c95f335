"""Do what a request asks on a session of this process: release, refine, receive, look for bias, or run on mock data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from discreet.errors import Invalid
from discreet.server.asked import Asked
from discreet.server.replay import request_of
from discreet.session.refine import Asked as AnsweredQuestion
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.session.saved import release_of_text
from discreet.session.session import Session

_ONLY_QUESTIONS = "only the answer to a question can be refined"


def held(session: Session, asked: Asked, hides: Callable[[str], bool] = lambda _: False) -> Released | None:
    """The answer that this account has received before, with its refinements; None if it has none, or it is hidden. Nothing is charged."""
    request = request_of(session, asked.chain)
    if not hasattr(request, "release") or "error" in asked.price:
        return None
    price = {name: one for name, one in asked.price.items() if name in ("epsilon", "delta", "confidence")}
    plan = called(request.plan, price)
    if hides(plan.priced.question) or session.stored(plan) is None:
        return None
    found = _as_released(called(request.release, asked.price))
    for one in asked.refined:
        question = found.question if isinstance(found, Release) else None
        if not isinstance(question, AnsweredQuestion):
            raise Invalid(_ONLY_QUESTIONS)
        if not called(question.has_refined, {"first": found} | one):
            return None
        found = _as_released(called(question.refine, {"first": found} | one))
    return found


def perform(session: Session, asked: Asked, progress: Callable[[str, float], None] | None = None) -> Released:
    """Do what was asked, in this thread."""
    request = request_of(session, asked.chain)
    if not hasattr(request, "release"):
        raise Invalid("this is opened, not released: use the interface for conversations, streams and feeds")
    if asked.verb in ("bias", "dry_run"):
        if not hasattr(request, asked.verb):
            raise Invalid(f"only questions have {asked.verb}()")
        return _as_released(called(getattr(request, asked.verb), asked.price | _referring(session, asked)))
    if asked.verb == "refine":
        return _refined(session, asked)
    if asked.verb == "receive":
        found = _as_released(called(request.release, asked.price))
        for one in asked.refined:
            found = _as_released(called(_question(found).refine, one))
        return found
    (first, given, named), *_ = asked.chain.steps
    more = {} if progress is None or first not in ("synthesize", "profile") else {"progress": progress}
    if first == "profile" and "epsilon" in asked.price:  # by the session, whose later questions use it
        return _as_released(called(session.profile, dict(zip(("table",), given, strict=False)) | named | asked.price | more))
    return _as_released(called(request.release, asked.price | more))


def _refined(session: Session, asked: Asked) -> Released:
    """Refine an answer that this account has: what comes before the last refinement is never bought here."""
    if not asked.refined:
        raise Invalid('a refinement has a price: give refine=[{"epsilon": 0.1}]')
    first = held(session, evolve(asked, refined=asked.refined[:-1]))
    if first is None:
        raise Invalid("there is no answer to refine at this price: release the question first, and state its delta")
    return _as_released(called(_question(first).refine, asked.refined[-1]))


def _question(found: Released) -> Release:
    if not isinstance(found, Release):
        raise Invalid(_ONLY_QUESTIONS)
    return found


def _referring(session: Session, asked: Asked) -> dict[str, Any]:
    """The release that bias() refers to; it must be one of this ledger."""
    if asked.of is None:
        return {}
    found = release_of_text(asked.of)
    session.verify(found)
    return {"of": found}


def _as_released(found: Any) -> Released:
    assert isinstance(found, Released), "every request releases one"
    return found


def called(method: Callable[..., Any], price: Mapping[str, Any]) -> Any:
    """What a method returns at this price; Invalid if it does not take it."""
    try:
        return method(**price)
    except (TypeError, OverflowError):
        raise Invalid(
            f"{method.__name__}() does not take these: {', '.join(map(str, price))[:200]}; give epsilon, and delta if needed"
        ) from None
