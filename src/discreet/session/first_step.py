"""The first step of a question whose bounds are not declared: discover what is open, and stop there if nothing is found.

The whole price is reserved; the discovery is charged before it reads, and the rest only if it is begun. What was discovered is stored, so
asking again is free, whether the question went on or stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

from attrs import evolve, frozen

from discreet import exact
from discreet.engines.engine import Engine
from discreet.errors import LedgerError, NotEnoughData
from discreet.ledger.chain import Entry, digest
from discreet.ledger.price import price
from discreet.ledger.receipt import Paid
from discreet.loss import record
from discreet.loss.loss import Loss, compose
from discreet.plan.discovery import Discovered
from discreet.plan.price import plan_loss
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column, inner_value
from discreet.run.execute import run_discoveries
from discreet.run.totals import groups_from_plain, groups_to_plain, key_from_plain, key_to_plain
from discreet.session.pipeline import Pipeline
from discreet.tables.catalog import Catalog


@final
@frozen(eq=False)
class Part:
    """One part of a plan at its price."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction


def parts_of(steps: Steps) -> tuple[Part, Part]:
    """The discoveries of a plan, and the rest of it."""
    epsilon, delta = (sum((getattr(one, name) for one in steps.discoveries), Fraction(0)) for name in ("epsilon", "delta"))
    first = Part(compose([one.loss for one in steps.discoveries]), epsilon, delta)
    return first, Part(plan_loss(evolve(steps, discoveries=())), steps.epsilon - epsilon, steps.delta - delta)


def may_stop(steps: Steps) -> bool:
    """Whether a discovery of the plan may find nothing."""
    return any(isinstance(one, RangeDiscovery) for one in steps.discoveries)


def first_step_of(question: str) -> str:
    """The digest under which the ledger stores what a question discovered."""
    return digest(["discovery", question])


@final
@frozen(eq=False)
class FirstStep:
    """What a question discovered, and the payment for it."""

    discovered: Discovered
    paid: Paid
    steps: Steps

    def to_text(self) -> str:
        """As text for the ledger; expressions by the number of their discovery."""
        found = self.discovered
        numbers = {one.expr: i for i, one in enumerate(self.steps.discoveries) if isinstance(one, RangeDiscovery)}
        said = {
            "limits": dict(found.limits),
            "bounds": [[numbers[expr], end, str(value)] for (expr, end), value in found.bounds.items()],
            "groups": None if found.groups is None else groups_to_plain(found.groups),
            "found": [[list(places), groups_to_plain(groups)] for places, groups in found.found.items()],
            "candidates": {name: [key_to_plain(value) for value in values] for name, values in found.candidates.items()},
            "not_found": list(found.not_found),
            "paid": self.paid.to_json(),
        }
        return json.dumps(said, separators=(",", ":"), allow_nan=False)

    def without_entries(self) -> FirstStep:
        """The same, with a payment that names no ledger entry."""
        return evolve(self, paid=self.paid.without_entry())

    @classmethod
    def from_text(cls, text: str, steps: Steps) -> FirstStep:
        """Read back what `to_text` wrote."""
        try:
            said = json.loads(text)
            ranges = dict(enumerate(steps.discoveries))
            groups, paid = said["groups"], said["paid"]
            found = Discovered(
                said["limits"],
                {(_expr(ranges[i]), end): exact.rational(value) for i, end, value in said["bounds"]},
                None if groups is None else groups_from_plain(groups),
                {name: tuple(key_from_plain(value) for value in values) for name, values in said["candidates"].items()},
                tuple(said["not_found"]),
                {tuple(places): groups_from_plain(groups) for places, groups in said.get("found", ())},
            )
            return cls(found, Paid(paid["question"], record.from_json(paid["loss"]), paid["sequence"], paid["entry"]), steps)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise LedgerError(
                "what the ledger stored for this discovery cannot be read: use the version of discreet that wrote it"
            ) from None

    def require_found(self, text: str, catalog: Catalog) -> None:
        """Raise NotEnoughData if a range was not found; `text` is the question in SQL, if it was asked so."""
        names = self.discovered.not_found
        if not names:
            return
        one = next(one for one in self.steps.discoveries if isinstance(one, RangeDiscovery) and one.name == names[0])
        first = parts_of(self.steps)[0]
        plain = isinstance(inner_value(one.expr), Column)
        declare = f'bounds={{"{names[0]}": (low, high)}}' if plain else "bounds of the columns in it"
        raise NotEnoughData(
            f"there is not enough data to discover the range of {names[0]} at ε = {float(one.epsilon):.3g}: it is found only where "
            f"about {one.clear:,.0f} units lie between two powers of two. Only this discovery was charged "
            f"({price(first.epsilon, first.delta)}); the same question is not charged again, and fails again. Declare {declare}, "
            f"buy db.profile(epsilon=…), or give a larger epsilon{self._rest_alone(one, text, catalog)}"
        )

    def _rest_alone(self, missing: RangeDiscovery, text: str, catalog: Catalog) -> str:
        """How to ask for the other statistics, if there are any."""
        from discreet.query.sql.without import without

        question = self.steps.question
        dropped = [name for name, statistic in question.additive.items() if missing.expr in statistic.numbers]
        if len(dropped) == len(question.statistics):
            return ""
        written = without(text, question, dropped, catalog)
        return f". Or leave out {', '.join(dropped)}" if written is None else f". Or ask for the rest alone: {written}"


def discover_first(steps: Steps, question: str, pipeline: Pipeline, note: str, progress: Callable[[str], None]) -> FirstStep:
    """Discover what is open, or return what was discovered before; charged by itself."""

    def run(paid: Entry) -> FirstStep:
        return FirstStep(run_discoveries(steps, pipeline.engine, progress), Paid.of(paid), steps)

    def read(text: str, repeated: bool) -> FirstStep:
        return FirstStep.from_text(text, steps)

    return pipeline.payments.pay_once(parts_of(steps)[0], first_step_of(question), f"discovery for: {note}", run, read)


def assumed_for_mock_data(steps: Steps, engine: Engine) -> Discovered:
    """What is discovered on mock data; ranges that are not found there are assumed to be 0 … 1."""
    others = tuple(one for one in steps.discoveries if not isinstance(one, RangeDiscovery))
    found = run_discoveries(evolve(steps, discoveries=others), engine)
    ends = {(one.expr, end): Fraction(end == "high") for one in steps.discoveries if isinstance(one, RangeDiscovery) for end in one.ends}
    return evolve(found, bounds=ends)


def _expr(discovery: Any) -> Any:
    if not isinstance(discovery, RangeDiscovery):
        raise ValueError
    return discovery.expr
