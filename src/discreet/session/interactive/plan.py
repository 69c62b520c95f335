"""The plan of a conversation: over which columns, how near its answers are, and the most that it may cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.interactive import Interactive
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.receipt import PricedRequest
from discreet.loss.convert import gaussian_epsilon
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import Promised
from discreet.query.canonical import plain
from discreet.session.priced_plan import PricedPlan
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.spec import SynthesisSpec
from discreet.tables.catalog import Catalog

PARTS = 1024  # of δ for one payment, where a single (ε, δ) is named for it


@final
@frozen
class Step:
    """One step of a conversation, with an (ε, δ) of its own."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, loss: Loss, delta: Fraction) -> Step:
        """A pure loss as it is; Gaussian noise with the ε that it has at a part of δ."""
        if loss.epsilon is not None:
            return cls(loss, loss.epsilon, Fraction(0))
        assert loss.mu_squared is not None
        mass = delta / PARTS
        epsilon = Fraction(math.ceil(gaussian_epsilon(loss.mu_squared, mass) * 10**9), 10**9)
        return cls(Promised(loss, epsilon, mass), epsilon, mass)


@final
@frozen(eq=False, repr=False, slots=False)
class ConversationPlan(PricedPlan):
    """Columns with their codes, the rules of answering, and a price that all steps together stay within."""

    spec: SynthesisSpec
    codings: tuple[Coding, ...]
    rules: Interactive
    asked_epsilon: Fraction
    asked_delta: Fraction
    catalog: Catalog = field()

    @property
    def domain(self) -> Domain:
        """The columns and how many codes each has."""
        return Domain(tuple(coding.name for coding in self.codings), tuple(coding.size for coding in self.codings))

    @cached_property
    def priced(self) -> PricedRequest:
        """The conversation at the most it may cost."""
        rules, catalog = self.rules, self.catalog
        asked: dict[str, Any] = {
            "is": "Interactive",
            "table": self.spec.name,
            "relation": plain(self.spec.relation),
            "codings": [plain(coding) for coding in self.codings],
            "rows": self.spec.rows,
            "accuracy": None if rules.accuracy is None else str(rules.accuracy),
            "share": None if rules.share is None else str(rules.share),
            "questions": rules.questions,
            "beta": str(rules.beta),
        }
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        return PricedRequest("conversation", asked, self.asked_epsilon, self.asked_delta, *declared, confidence=1 - rules.beta)

    @property
    def loss(self) -> Loss:
        """The most that all steps together cost."""
        return Approx(self.epsilon, self.delta)

    @property
    def title(self) -> str:
        """The table, its columns and the accuracy."""
        return f"interactive {self.spec.name}: {', '.join(self.domain.names)}; within {self._within}"

    @property
    def _within(self) -> str:
        share = self.rules.share
        return f"{float(self.rules.accuracy or 0):,.4g} records" if share is None else f"{float(share):.4g} of all records"

    def error(self, confidence: Number | None = None) -> float:
        """The error of each answer, in records or below 1 as a share of all records; it holds with probability 1 − beta."""
        if confidence is not None and confidence_of(confidence) > 1 - self.rules.beta:
            raise Invalid(
                f"the accuracy of this conversation holds with probability {float(1 - self.rules.beta):g}: ask with a smaller beta"
            )
        asked = self.rules.accuracy if self.rules.accuracy is not None else self.rules.share
        assert asked is not None
        return float(asked)

    def explain(self) -> str:
        """Who is protected, how questions are answered, and what all of them may cost."""
        columns = ", ".join(f"{coding.name} ({coding.size})" for coding in self.codings)
        lines = [
            f"a conversation about {self.spec.name}: counts and means over {columns}",
            f"protects {self.priced.protected}",
            f"the first {self.rules.questions:,} answers are all within {self._within}, with probability {float(1 - self.rules.beta):g}",
            "answers that follow from earlier measurements are free; each measurement is charged first, and all stay within the price",
        ]
        return "\n".join([*lines, *self._price_lines])


def rules_for(accuracy: Any, questions: int, beta: Any) -> Interactive:
    """An accuracy of 1 or more is in records, below 1 a share of all records."""
    if not isinstance(accuracy, int | float | Fraction) or isinstance(accuracy, bool) or not accuracy > 0 or not math.isfinite(accuracy):
        raise Invalid("accuracy must be a number above 0: give a number of records, or below 1 a share of all records")
    in_records = accuracy >= 1
    chosen: Callable[..., Interactive] = Interactive
    return chosen(**({"accuracy": accuracy} if in_records else {"share": accuracy}), questions=questions, beta=beta)
