"""The plan of a threshold stream: its mechanism, what its rounds cost, and how far on the wrong side an answer may be."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from discreet.exact import Number
from discreet.ledger.price import price
from discreet.ledger.receipt import PricedRequest
from discreet.loss.loss import Loss
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.session.priced_plan import PricedPlan
from discreet.tables.catalog import Catalog

Values: TypeAlias = Literal["gap"] | bool


@final
@frozen
class Round:
    """What one round costs."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction = Fraction(0)


@final
@frozen(eq=False, repr=False, slots=False)
class WatchPlan(PricedPlan):
    """Rounds of the sparse vector technique, each with one hit; only the rounds that are begun are paid."""

    mechanism: SparseVector
    threshold: Fraction
    rounds: int
    values: Values
    catalog: Catalog = field()

    @cached_property
    def priced(self) -> PricedRequest:
        """The stream at the price of all its rounds."""
        asked = {
            "is": "Watch",
            "threshold": str(self.threshold),
            "rounds": self.rounds,
            "values": self.values,
            "monotone": self.mechanism.monotone,
            "each": str(self.mechanism.epsilon),
        }
        catalog = self.catalog
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        return PricedRequest("threshold stream", asked, self.rounds * self.mechanism.epsilon, Fraction(0), *declared)

    @property
    def round(self) -> Round:
        """The price of one round."""
        return Round(self.mechanism.loss, self.mechanism.epsilon)

    @property
    def loss(self) -> Loss:
        """What all rounds together cost."""
        return self.rounds * self.mechanism.loss

    @property
    def title(self) -> str:
        """The threshold and the rounds."""
        return f"totals above {float(self.threshold):,.6g}? {self.rounds} round{'s' * (self.rounds > 1)}"

    def error(self, confidence: Number = 0.95, questions: int = 1) -> float:
        """How far on the wrong side of its threshold an answer may be, in a round of so many questions.

        In units of the total's sensitivity.
        """
        return self.mechanism.error(confidence, questions)

    def explain(self) -> str:
        """Who is protected, what a round is, what it costs and how far off its answers may be."""
        told = {True: "with the total at a hit", "gap": "with the margin at a hit", False: "without numbers"}[self.values]
        lines = [
            f"a stream of threshold questions: is a total above {float(self.threshold):,.6g}? {told}",
            f"protects {self.priced.protected}",
            f"the first question of a round pays {price(self.mechanism.epsilon)}; a round ends with its first hit; rounds: {self.rounds}",
            f"95 % of the time an answer is wrong only within ± {self.error():,.4g} of its threshold, in units of its sensitivity",
        ]
        return "\n".join([*lines, *self._price_lines])
