"""A plan as plain values: what a remote session shows before anything is paid. It holds no data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import Invalid
from discreet.exact import short
from discreet.explain.forecast import Forecast
from discreet.explain.text import Explanation
from discreet.ledger.receipt import PricedRequest
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.loss import Loss
from discreet.session.life_cycle import AnyPlan
from discreet.session.remote.wire import plain


def plan_of(plan: AnyPlan, asked: Mapping[str, Any] | None = None, shown: int | None = None) -> dict[str, Any]:
    """A plan: its price, its loss, its expected error (`asked` are the arguments of error()), and why it is private."""
    try:
        error = plan.error(**(asked or {}))
    except TypeError:
        raise Invalid("error() does not take these arguments: see its documentation") from None
    if shown is not None and not hasattr(plan, "shown"):
        raise Invalid("only questions have groups that may be shown or not")
    explained = plan.explain()
    return {
        "title": getattr(plan, "title", ""),
        "epsilon": short(plan.epsilon),
        "delta": short(plan.delta),
        "error": plain(dict(error) if isinstance(error, Mapping) else error),
        "worst": plain(error.worst) if isinstance(error, Forecast) else None,
        "forecast": _forecast(error) if isinstance(error, Forecast) else None,
        "text": str(explained),
        "facts": explained.to_json() if isinstance(explained, Explanation) else None,
        "html": plan._repr_html_(),
        "priced": priced_of(plan.priced),
        "loss": _loss(plan.loss),
        "shown": None if shown is None else getattr(plan, "shown")(shown),  # noqa: B009
    }


def _loss(loss: Loss) -> dict[str, Any]:
    """A loss as a term; where it is not decided yet which of several it will be, the charge that covers each."""
    try:
        return record.to_json(loss)
    except Invalid:
        return {"charge": Charge.of(loss, pure=False).to_json()}


def _forecast(error: Forecast) -> dict[str, Any]:
    return {"confidence": error.confidence, "ranks": sorted(error.ranks), "assumed": dict(error.assumed)}


def priced_of(priced: PricedRequest) -> dict[str, Any]:
    """A request at its price, as receipts state it."""
    return {
        "kind": priced.kind,
        "request": priced.request,
        "epsilon": str(priced.epsilon),
        "delta": str(priced.delta),
        "protected": priced.protected,
        "adjacency": priced.adjacency,
        "policy": priced.policy,
        "version": priced.version,
        "confidence": str(priced.confidence),
    }
