"""Plan a question that reads a random sample of the units: what it may ask, its price before sampling, and its loss after it.

Each unit is in the sample with probability q, independently, by a fresh secret key for each draw. Everything that the question measures is
measured on that one sample, so the loss is amplified once, for all measurements together: amplifying each by itself would be wrong, for
whoever sees two answers about one sample learns who is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from attrs import evolve

from discreet.errors import Refused
from discreet.loss.amplify import before_sampling, subsampled
from discreet.loss.promise import Promised
from discreet.plan.discovery import Discovery, LimitDiscovery
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.steps import Steps
from discreet.query.question import Question
from discreet.query.relation.node import unit_kind
from discreet.tables.kind import Kind

_LARGEST_DELTA = Fraction(1, 4)  # of the mechanisms on the sample
_INSTEAD = "leave out sample="


def inner_price(question: Question, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The price of the mechanisms on the sample, for which sampling leaves (ε, δ); the price itself, if all units are read."""
    if question.sample is None:
        return epsilon, delta
    return before_sampling(epsilon, question.sample), min(delta / question.sample, _LARGEST_DELTA)


def outside(plan: Steps, epsilon: Fraction) -> Steps:
    """A plan for the sample at its price, with the loss of all its mechanisms together amplified once.

    Theorem (Balle, Barthe & Gaboardi 2018).
        See `PoissonSubsampled` and, where one unit is replaced by another, `Subsampled`. The mechanism that is amplified is the whole plan:
        all of its totals, on one sample that nobody sees and that is never used again.
    """
    rate = plan.question.sample
    if rate is None:
        return plan
    delta = plan.delta * rate
    loss = subsampled(plan.loss, rate, sampling="poisson", adjacency=plan.adjacency)
    note = f"reads a fresh secret sample of {100 * float(rate):.6g} % of the units; counts and sums are divided by that share"
    return evolve(plan, epsilon=epsilon, delta=delta, loss=Promised(loss, epsilon, delta), notes=(*plan.notes, note))


def check_sampled(question: Question, discoveries: Sequence[Discovery]) -> None:
    """Refuse what cannot be sampled by unit, or has no honest interval on a sample."""
    if question.sample is None:
        return
    relation = question.relation
    if not relation.has_id:
        raise Refused(f"the unit is the row, so nothing identifies units to sample: declare the column that names the unit, or {_INSTEAD}")
    if unit_kind(relation) in (Kind.REAL, None):
        raise Refused(
            f"units are sampled by their identifiers, which must be whole numbers, texts, dates or timestamps: declare the type of the "
            f'column that names the unit, as in columns={{"id": "integer"}}, or {_INSTEAD}'
        )
    if unfit := [name for name, one in question.statistics if not getattr(one, "sampled", False)]:
        raise Refused(
            f"{', '.join(unfit)}: only COUNT, COUNT(DISTINCT unit), SUM and AVG have intervals that include the sampling error: "
            f"ask for the others by themselves, and {_INSTEAD}"
        )
    if question.sets or question.windows:
        raise Refused(f"grouping sets and windows are not answered from a sample: ask with an ordinary GROUP BY, or {_INSTEAD}")
    if discoveries:
        bought = "buy a profile that finds it, db.profile(epsilon=…)"
        raise Refused(f"nothing is discovered on a sample: declare {_undeclared(discoveries)}, {bought}, or {_INSTEAD}")


def _undeclared(discoveries: Sequence[Discovery]) -> str:
    limits = [f'"{one.what}": …' for one in discoveries if isinstance(one, LimitDiscovery)]
    ranges = list(dict.fromkeys(one.name for one in discoveries if isinstance(one, RangeDiscovery)))
    parts = [f"contributions={{{', '.join(limits)}}}"] if limits else []
    parts += ["bounds={" + ", ".join(f'"{name}": (low, high)' for name in ranges) + "}"] if ranges else []
    others = len(discoveries) - len(limits) - sum(isinstance(one, RangeDiscovery) for one in discoveries)
    return " and ".join([*parts, *(["keys={…} of the groups"] if others else [])])
