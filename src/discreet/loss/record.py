"""Losses as JSON values: exact and readable; anything that is not a loss is rejected."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs

from discreet import exact
from discreet.errors import Invalid
from discreet.loss.amplify import PoissonSubsampled, Subsampled
from discreet.loss.leaves import (
    Approx,
    BoundedRange,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GaussianThreshold,
    Gdp,
    LaplaceLoss,
    Pure,
    RandomizedResponseLoss,
    Response,
    Revealed,
    Zcdp,
)
from discreet.loss.loss import Alternatives, Group, Loss, LossSum, compose, parallel
from discreet.loss.parts import SomeParts
from discreet.loss.promise import InteractiveStep, Promised
from discreet.loss.shuffle import Shuffled

_KINDS: dict[str, type[Loss]] = {
    "pure": Pure,
    "approx": Approx,
    "zcdp": Zcdp,
    "gdp": Gdp,
    "laplace": LaplaceLoss,
    "discrete-laplace": DiscreteLaplaceLoss,
    "gaussian": GaussianLoss,
    "gaussian-threshold": GaussianThreshold,
    "bounded-range": BoundedRange,
    "randomized-response": RandomizedResponseLoss,
    "response": Response,
    "revealed": Revealed,
    "promised": Promised,
    "interactive-step": InteractiveStep,
    "some-parts": SomeParts,
    "poisson-subsampled": PoissonSubsampled,
    "subsampled": Subsampled,
    "shuffled": Shuffled,
    "sum": LossSum,
    "alternatives": Alternatives,
    "group": Group,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(loss: Loss) -> dict[str, Any]:
    """Write a loss as plain values, fractions as strings.

    >>> to_json(2 * Pure(0.1))
    {'kind': 'sum', 'terms': [[{'kind': 'pure', 'epsilon': '1/10'}, 2]]}
    """
    if type(loss) not in _NAMES:
        raise Invalid(f"{type(loss).__name__} is not a loss that can be recorded: pass mechanism.loss, or a sum of losses")
    values = {name: _write(getattr(loss, name)) for name in attrs.fields_dict(type(loss))}  # type: ignore[arg-type]
    return {"kind": _NAMES[type(loss)]} | values


def _write(value: Any) -> Any:
    match value:
        case Loss():
            return to_json(value)
        case Fraction():
            return str(value)
        case tuple():
            return [_write(item) for item in value]
        case int():
            return value
    raise Invalid("this loss has a field that cannot be recorded: build it from the losses of discreet.loss")


def from_json(record: dict[str, Any]) -> Loss:
    """Read back what to_json wrote; anything else is Invalid.

    >>> from_json({"kind": "pure", "epsilon": "1/10"}) == Pure(0.1)
    True
    """
    try:
        kind = _KINDS[record["kind"]]
        values = {name: _read(value) for name, value in record.items() if name != "kind"}
        loss = kind(**values)
        canonical = _rebuilt(loss)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Invalid("this is not the record of a loss: pass what to_json wrote") from None
    if canonical != loss or to_json(loss) != record:
        raise Invalid("this record of a loss is not in its canonical form: pass what to_json wrote")
    return loss


def _rebuilt(loss: Loss) -> Loss:
    """The same loss rebuilt with the algebra's operations, which reject negative multiplicities and empty alternatives."""
    match loss:
        case LossSum(terms=terms):
            return compose(k * term for term, k in terms)
        case Alternatives(parts=parts, touched=touched):
            return parallel(*parts, adjacency={1: "add/remove", 2: "replace-one"}[touched])  # type: ignore[arg-type]
        case Group(k=k, part=part):
            return part.group(exact.whole(k, "k", least=2))
    return loss


def _read(value: Any) -> Any:
    match value:
        case {"kind": _}:
            return from_json(value)
        case list():
            return tuple(_read(item) for item in value)
        case int() | str():
            return value
    raise Invalid("this is not the record of a loss: pass what to_json wrote")
