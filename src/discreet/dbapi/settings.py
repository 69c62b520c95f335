"""The settings of a connection: the price of a question that states none, and the form of answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import evolve, field, fields, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.explain.forecast import confidence_of
from discreet.hints import suggest_and_list
from discreet.query.sql.written_price import written_price

PRICE_MISSING = (
    "the price is missing: begin the question with /* epsilon=0.1 */, run SET discreet.epsilon = 0.1 first, or connect with epsilon=0.1"
)
_YES, _NO = ("1", "true", "on", "yes"), ("0", "false", "off", "no")


def _switch(value: Any) -> bool:
    if str(value).lower() not in (*_YES, *_NO):
        raise Invalid("a switch is on or off: write true or false")
    return str(value).lower() in _YES


def _read(value: Any) -> Any:
    return exact.rational(value) if isinstance(value, str) else value


def _epsilon(value: Any) -> Fraction | None:
    return None if value is None else parameter.price_epsilon(_read(value))


def _delta(value: Any) -> Fraction | None:
    return None if value is None else parameter.price_delta(_read(value))


def _confidence(value: Any) -> Fraction | None:
    return None if value is None else confidence_of(_read(value))


@final
@frozen
class Settings:
    """The options of a connection.

    `epsilon` and `delta` are the price of each question. `confidence` is that of its intervals, which `intervals` adds as columns x_low and
    x_high. With `cached_only` only answers that were received before are given again, and nothing is ever charged.
    """

    epsilon: Fraction | None = field(default=None, converter=_epsilon)
    delta: Fraction | None = field(default=None, converter=_delta)
    confidence: Fraction | None = field(default=None, converter=_confidence)
    intervals: bool = field(default=True, converter=_switch)
    cached_only: bool = field(default=False, converter=_switch)
    dialect: str = field(default="duckdb")

    def changed(self, name: str, value: str | None) -> Settings:
        """The same with another value of one setting; None is its default."""
        known = {one.name: one.default for one in fields(Settings)}
        if name not in known:
            raise Invalid(f"there is no setting discreet.{name[:40]}; {suggest_and_list(name[:40], list(known))}")
        given: dict[str, Any] = {name: known[name] if value is None else value}
        return evolve(self, **given)

    def price_of(self, text: str) -> dict[str, Any]:
        """The price of a question: what its text states, and for the rest that of the connection."""
        written = written_price(text, self.dialect)
        usual = {"epsilon": self.epsilon, "delta": self.delta, "confidence": self.confidence}
        price = {name: one for name, one in usual.items() if one is not None and name not in written.clause} | written.comment
        if "epsilon" not in price and "epsilon" not in written.clause:
            raise Invalid(PRICE_MISSING)
        return price

    def shown(self, name: str) -> str:
        """A setting as text; Invalid if there is none of this name."""
        self.changed(name, None)  # raises it
        value = getattr(self, name)
        if isinstance(value, bool):
            return "on" if value else "off"
        return exact.short(value) if isinstance(value, Fraction) else str(value or "")
