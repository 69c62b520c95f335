"""What all plans have in common: their price, a short repr and a view for notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from discreet.exact import Number
from discreet.ledger.price import group_loss_lines, price
from discreet.ledger.receipt import PricedRequest
from discreet.loss.loss import Loss
from discreet.plots.page import html_lines


class PricedPlan(ABC):
    """Everything that is decided before paying; holds no data, so it can be shown."""

    @property
    @abstractmethod
    def priced(self) -> PricedRequest:
        """The request at its price, as the ledger names it."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The privacy loss, as a term."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words."""

    @abstractmethod
    def error(self, confidence: Number = 0.95) -> Any:
        """The expected error of the answers at this confidence; reads and spends nothing."""

    @abstractmethod
    def explain(self) -> Any:
        """Who is protected, what will be done, what it costs and the expected error."""

    @property
    def epsilon(self) -> Fraction:
        """The most ε that it may cost, everything included."""
        return self.priced.epsilon

    @property
    def delta(self) -> Fraction:
        """The most δ that it may cost; 0 where none is needed."""
        return self.priced.delta

    @property
    def _price_lines(self) -> list[str]:
        return [f"costs {price(self.epsilon, self.delta)}", *group_loss_lines(self.loss, self.epsilon, self.delta)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title}; {price(self.epsilon, self.delta)}; protects {self.priced.protected})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), str(self.explain()).splitlines())
