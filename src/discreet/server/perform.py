"""Do what a request asks on a session of this process: release, refine, receive, look for bias, or run on mock data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from discreet.errors import Invalid, LedgerError
from discreet.explain.forecast import confidence_of
from discreet.ledger.receipt import CONFIDENCE, NO_ENTRY
from discreet.server.asked import Asked
from discreet.server.replay import request_of
from discreet.session.query import Query
from discreet.session.refine import Asked as AnsweredQuestion
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.session.saved import release_of_text
from discreet.session.session import Session

_ONLY_QUESTIONS = "only the answer to a question can be refined"
_NOTHING_TO_REFINE = "there is no answer to refine at this price: release the question first, and state its delta"


def held(session: Session, asked: Asked, hides: Callable[[str], bool] = lambda _: False) -> Released | None:
    """The answer that this account has received before, with its refinements; None if it has none, or it is hidden. Nothing is charged."""
    request = request_of(session, asked.chain)
    if not hasattr(request, "release") or "error" in asked.price:
        return None
    fixed = with_delta(request, asked.price)  # what is looked for is what is returned: nothing is bought here
    plan = called(request.plan, _price(fixed))
    if hides(plan.priced.question) or session.stored(plan) is None:
        return None
    found = _as_released(called(request.release, fixed))
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
    more = {} if progress is None or asked.chain.steps[0][0] not in ("synthesize", "profile") else {"progress": progress}
    return _as_released(called(request.release, asked.price | more))


def use_profile(session: Session, asked: Asked) -> None:
    """Let later questions of a session use a profile that its account has bought, which is free."""
    _, given, named = asked.chain.steps[0]
    called(session.profile, dict(zip(("table",), given, strict=False)) | named | asked.price)


def with_delta(request: Any, price: Mapping[str, Any]) -> dict[str, Any]:
    """A price with the δ that a question has now, where it states none: later, when others were charged, it could have another."""
    if not isinstance(request, Query) or price.get("delta") is not None or price.get("error") is not None:
        return dict(price)
    level = confidence_of(price.get("confidence", CONFIDENCE))
    return dict(price) | {"delta": request.delta_for(price.get("epsilon"), None, level)}


def fixed(session: Session, asked: Asked) -> Asked:
    """The same request with every δ that it leaves out, as this account has it now."""
    request = request_of(session, asked.chain)
    if not isinstance(request, Query) or asked.verb not in ("release", "refine", "receive") or asked.price.get("error") is not None:
        return asked
    usual = {"delta": request.pipeline.default_delta}
    more = tuple(one if one.get("delta") is not None else one | usual for one in asked.refined)
    return evolve(asked, price=with_delta(request, asked.price), refined=more)


def _price(price: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in price.items() if name in ("epsilon", "delta", "confidence")}


def _refined(session: Session, asked: Asked) -> Released:
    """Refine an answer that this account has: what comes before the last refinement is never bought here."""
    if not asked.refined:
        raise Invalid('a refinement has a price: give refine=[{"epsilon": 0.1}]')
    return _as_released(called(_question(refinable(session, asked)).refine, asked.refined[-1]))


def refinable(session: Session, asked: Asked, hides: Callable[[str], bool] = lambda _: False) -> Released:
    """The answer that a refinement begins with; Invalid if this account has none, or it is hidden."""
    first = held(session, evolve(asked, refined=asked.refined[:-1]), hides)
    if first is None:
        raise Invalid(_NOTHING_TO_REFINE)
    return first


def _question(found: Released) -> Release:
    if not isinstance(found, Release):
        raise Invalid(_ONLY_QUESTIONS)
    return found


def _referring(session: Session, asked: Asked) -> dict[str, Any]:
    """The release that bias() refers to; it must be one of this ledger."""
    if asked.of is None:
        return {}
    found = release_of_text(asked.of)
    verify(session, found)
    return {"of": found}


def verify(session: Session, release: Released, hides: Callable[[str], bool] = lambda _: False) -> None:
    """Compare a release with the ledger; LedgerError, as if it were not there, if anything that its receipt names is hidden."""
    receipt = release.receipt
    if any(hides(question) for question in {receipt.question, *(paid.question for paid in receipt.payments)}):
        raise LedgerError(NO_ENTRY)
    session.verify(release)


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
