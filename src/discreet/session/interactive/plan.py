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
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.receipt import PricedRequest
from discreet.loss.convert import gaussian_epsilon
from discreet.loss.filter import Filter
from discreet.loss.leaves import GaussianLoss
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx
from discreet.loss.promise import InteractiveStep, Promised
from discreet.plan.bounding import between_neighbours
from discreet.query.canonical import plain
from discreet.session.priced_plan import PricedPlan
from discreet.session.synthesize.counted import row_weights
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.spec import SynthesisSpec
from discreet.tables.catalog import Catalog

_STEPS = 8  # one part in so many of δ is for single steps, the rest for the conversation as a whole


@final
@frozen
class Step:
    """One step of a conversation, with what a budget adds for it."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, loss: Loss, number: int, charged: Fraction, plan: ConversationPlan) -> Step:
        """The step of this number (from 1), after steps that were charged so much ε: its own ε, or what remains of the conversation's."""
        mass = plan.delta / _STEPS / (number * (number + 1))  # these add up to less than δ/8
        own = loss if loss.epsilon is not None else _promised(loss, mass)
        epsilon = min(own.basic[0] or Fraction(0), plan.epsilon - charged)
        delta = plan.delta if number == 1 else Fraction(0)
        return cls(InteractiveStep(own, epsilon, delta), epsilon, delta)


def _promised(loss: Loss, mass: Fraction) -> Promised:
    """Gaussian noise with the ε that it has at this δ."""
    assert loss.mu_squared is not None
    return Promised(loss, Fraction(math.ceil(gaussian_epsilon(loss.mu_squared, mass) * 10**9), 10**9), mass)


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

    @property
    def ceiling(self) -> Filter:
        """The budget that all steps together stay within; the rest of δ is for the steps by themselves."""
        return Filter(self.epsilon, self.delta * (_STEPS - 1) / _STEPS)

    @cached_property
    def counts(self) -> int | None:
        """How many separate counts the price pays for at this accuracy; None if that is a share of an unknown number of records."""
        if self.rules.accuracy is None:
            return None
        loss = self._count(self.rules.accuracy)
        if not self.ceiling.admits(loss):
            return 0
        assert loss.mu_squared is not None
        return 1 + int(self.ceiling.spend(loss).most(GaussianLoss) / loss.mu_squared)

    def _count(self, accuracy: Fraction) -> Loss:
        """The loss of measuring one count."""
        weights = row_weights(self.spec.relation, self.spec.rows or 1)
        both = between_neighbours(weights.sensitivity, self.catalog.adjacency, signed=False)
        return self.rules.alone(accuracy, weights.one, min(weights.sensitivity.l1, int(both.l2))).loss

    def require_one_count(self) -> None:
        """Refuse a conversation whose price does not pay for a single count at its accuracy."""
        if self.counts != 0:
            return
        coarser = self.rules.accuracy or Fraction(1)
        while not self.ceiling.admits(self._count(coarser)):
            coarser *= Fraction(5, 4)
        raise Refused(
            f"ε = {float(self.epsilon):g} does not pay for a single count within {self._within}: "
            f"ask for accuracy={math.ceil(coarser)} or more, or raise epsilon. Nothing was charged."
        )

    def error(self, confidence: Number | None = None) -> float:
        """The error of each answer, in records or below 1 as a share of all records, while the price lasts; with probability 1 − beta."""
        if confidence is not None and confidence_of(confidence) > 1 - self.rules.beta:
            raise Invalid(
                f"the accuracy of this conversation holds with probability {float(1 - self.rules.beta):g}: ask with a smaller beta"
            )
        asked = self.rules.accuracy if self.rules.accuracy is not None else self.rules.share
        assert asked is not None
        return float(asked)

    @property
    def _lasts(self) -> str:
        """How far the price goes."""
        then = "when it is used up, answers say so and have no guarantee"
        if self.counts is None:
            return f"how many measurements the price pays for depends on the number of records; {then}"
        counts = "1 separate count" if self.counts == 1 else f"{self.counts:,} separate counts"
        return f"the price pays for about {counts}, or more where they share columns; {then}"

    def explain(self) -> str:
        """Who is protected, how questions are answered, and what all of them may cost."""
        columns = ", ".join(f"{coding.name} ({coding.size})" for coding in self.codings)
        lines = [
            f"a conversation about {self.spec.name}: counts and means over {columns}",
            f"protects {self.priced.protected}",
            f"answers are within {self._within} while the price lasts: all of the first {self.rules.questions:,}, "
            f"with probability {float(1 - self.rules.beta):g}",
            "answers that follow from earlier measurements are free; each measurement is charged first, and all stay within the price",
            self._lasts,
        ]
        return "\n".join([*lines, *self._price_lines])


def rules_for(accuracy: Any, questions: int, beta: Any) -> Interactive:
    """An accuracy of 1 or more is in records, below 1 a share of all records."""
    if not isinstance(accuracy, int | float | Fraction) or isinstance(accuracy, bool) or not accuracy > 0 or not math.isfinite(accuracy):
        raise Invalid("accuracy must be a number above 0: give a number of records, or below 1 a share of all records")
    in_records = accuracy >= 1
    chosen: Callable[..., Interactive] = Interactive
    return chosen(**({"accuracy": accuracy} if in_records else {"share": accuracy}), questions=questions, beta=beta)
