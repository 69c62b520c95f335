"""What an account promises: the first entry of its chain."""

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
        raise Invalid("unit must be a name, such as the column that identifies a person")
    return value


def _epsilon(value: Number) -> Fraction:
    return _on_grid(parameter.any_epsilon(value), "epsilon")


def _delta(value: Number) -> Fraction:
    return _on_grid(parameter.any_delta(value), "delta")


def _on_grid(value: Fraction, name: str) -> Fraction:
    kept = exact.grid_down(value)
    if value and not kept:
        raise Invalid(f"a budget's {name} is kept in multiples of 1e-40: give 0, or at least 1e-40")
    return kept


def _adjacency(value: str) -> str:
    if value not in ("add/remove", "replace-one"):
        raise Invalid('adjacency must be "add/remove" or "replace-one"')
    return value


@final
@frozen
class Terms:
    """Who is protected, against which change, and how much may ever be learnt about one of them.

    ε and δ are multiples of 10⁻⁴⁰; what lies between two of them is rounded down.

    >>> Terms(1, 1e-6, "patient_id")
    Terms(epsilon=1, delta=1/1000000, unit='patient_id', adjacency='add/remove')
    """

    epsilon: Fraction = field(converter=_epsilon, repr=str)
    delta: Fraction = field(converter=_delta, repr=str)
    unit: str = field(converter=_name)
    adjacency: str = field(default="add/remove", converter=_adjacency)

    @property
    def budget(self) -> Filter:
        """The whole budget, nothing spent."""
        return Filter(self.epsilon, self.delta)

    def part(self, epsilon: Number, delta: Number) -> Filter:
        """The budget of one analyst, nothing spent: no more than the whole, or Invalid."""
        part = Filter(_epsilon(exact.positive(epsilon, "epsilon")), _delta(delta))
        if part.epsilon > self.epsilon or part.delta > self.delta:
            whole = f"epsilon = {_shown(self.epsilon)} and delta = {_shown(self.delta)}"
            raise Invalid(f"an analyst's budget is a part of the data set's, which has {whole}: grant no more")
        return part

    def to_json(self, *, witnessed: bool) -> dict[str, Any]:
        """Write the first entry: the terms, and whether somebody outside keeps watch."""
        return {
            "format": FORMAT,
            "epsilon": exact.short(self.epsilon),
            "delta": exact.short(self.delta),
            "unit": self.unit,
            "adjacency": self.adjacency,
            "witnessed": witnessed,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Terms:
        """Read the first entry; anything else is Invalid."""
        try:
            terms = cls(body["epsilon"], body["delta"], body["unit"], body["adjacency"])
        except (KeyError, TypeError):
            raise Invalid("these are not the terms of a ledger") from None
        if body != terms.to_json(witnessed=body.get("witnessed") is True):
            raise Invalid("these are not the terms of a ledger that this version of discreet can read")
        return terms

    def require(self, asked: Terms) -> None:
        """Raise PolicyError unless somebody asks for just these terms.

        >>> Terms(1, 0, "id").require(Terms(2, 0, "id"))
        Traceback (most recent call last):
        discreet.errors.PolicyError: the ledger was opened with epsilon = 1, not 2. Use what it was opened with. ...
        """
        kept, wanted = asdict(self), asdict(asked)
        differ = [f"{name} = {_shown(kept[name])}, not {_shown(wanted[name])}" for name in kept if kept[name] != wanted[name]]
        if differ:
            raise PolicyError(
                f"the ledger was opened with {'; '.join(differ)}. Use what it was opened with. Other terms need a new ledger, "
                "and what was released under this one adds to what that one will release."
            )


def _shown(value: Fraction | str) -> str:
    return f"{exact.float_down(value):.6g}" if isinstance(value, Fraction) and value.denominator > 1 else f"{value}"
