"""The terms of a ledger: the first entry of its chain, and others as long as nothing was spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import asdict, field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid, PolicyError
from discreet.exact import Number
from discreet.loss.filter import Filter

FORMAT = 3


def _name(value: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Invalid("unit must be a text: name the column that identifies a person")
    return value


def _epsilon(value: Number) -> Fraction:
    return _on_grid(parameter.any_epsilon(value), "epsilon")


def _delta(value: Number) -> Fraction:
    return _on_grid(parameter.any_delta(value), "delta")


def _on_grid(value: Fraction, name: str) -> Fraction:
    kept = exact.grid_down(value)
    if value and not kept:
        raise Invalid(f"the {name} of a budget is recorded in multiples of 1e-40: give 0, or at least 1e-40")
    return kept


def _adjacency(value: str) -> str:
    if value not in ("add/remove", "replace-one"):
        raise Invalid('adjacency must be "add/remove" or "replace-one"')
    return value


@final
@frozen
class Terms:
    """The protected unit, the neighbouring relation, and the total privacy loss allowed per unit.

    ε and δ are multiples of 10⁻⁴⁰; other values are rounded down.

    >>> Terms(1, 1e-6, "patient_id")
    Terms(epsilon=1, delta=1/1000000, unit='patient_id', adjacency='add/remove')
    """

    epsilon: Fraction = field(converter=_epsilon, repr=str)
    delta: Fraction = field(converter=_delta, repr=str)
    unit: str = field(converter=_name)
    adjacency: str = field(default="add/remove", converter=_adjacency)

    @property
    def budget(self) -> Filter:
        """The filter of the whole budget, with nothing spent."""
        return Filter(self.epsilon, self.delta)

    def part(self, epsilon: Number, delta: Number) -> Filter:
        """The filter of an analyst's budget, with nothing spent; Invalid if it exceeds the whole."""
        part = Filter(_epsilon(exact.positive(epsilon, "epsilon")), _delta(delta))
        if part.epsilon > self.epsilon or part.delta > self.delta:
            whole = f"epsilon = {_format(self.epsilon)} and delta = {_format(self.delta)}"
            raise Invalid(f"an analyst cannot be granted more than the budget of the data set, {whole}: grant less")
        return part

    def to_json(self, *, witnessed: bool) -> dict[str, Any]:
        """The body of the first entry: the terms, and whether the ledger has a witness."""
        return {"format": FORMAT} | self.plain | {"witnessed": witnessed}

    @property
    def plain(self) -> dict[str, str]:
        """The terms as texts."""
        amounts = {"epsilon": exact.short(self.epsilon), "delta": exact.short(self.delta)}
        return amounts | {"unit": self.unit, "adjacency": self.adjacency}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Terms:
        """Read the body of a first entry; anything else is Invalid."""
        try:
            terms = cls(body["epsilon"], body["delta"], body["unit"], body["adjacency"])
        except (KeyError, TypeError):
            raise Invalid("these are not the terms of a ledger") from None
        if body != terms.to_json(witnessed=body.get("witnessed") is True):
            raise Invalid("these are not the terms of a ledger that this version of discreet can read")
        return terms

    def require(self, asked: Terms) -> None:
        """Raise PolicyError unless these terms are asked for.

        >>> Terms(1, 0, "id").require(Terms(2, 0, "id"))
        Traceback (most recent call last):
        discreet.errors.PolicyError: the ledger was created with epsilon = 1, not 2. Something was spent from it, so use ...
        """
        kept, wanted = asdict(self), asdict(asked)
        differ = [f"{name} = {_format(kept[name])}, not {_format(wanted[name])}" for name in kept if kept[name] != wanted[name]]
        if differ:
            raise PolicyError(
                f"the ledger was created with {'; '.join(differ)}. Something was spent from it, so use the terms that it was created with. "
                "Other terms need a new ledger, and the losses of both ledgers add up."
            )


def _format(value: Fraction | str) -> str:
    return f"{exact.float_down(value):.6g}" if isinstance(value, Fraction) and value.denominator > 1 else f"{value}"
