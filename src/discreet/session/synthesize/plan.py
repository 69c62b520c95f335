"""The plan of a synthetic table: what is discovered first, what is measured and what it costs, decided before anything is read."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import pi, sqrt
from statistics import NormalDist
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import Name, choose, records_needed
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Refused
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.price import price
from discreet.ledger.receipt import PricedRequest
from discreet.loss.certify import greatest
from discreet.loss.charge import Charge
from discreet.loss.convert import gaussian_budget
from discreet.loss.loss import ZERO, Loss, compose
from discreet.loss.notions import Approx, Zcdp
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import is_replacement
from discreet.query.canonical import plain
from discreet.session.pipeline import Pipeline
from discreet.session.plan import Plan
from discreet.session.priced_plan import PricedPlan
from discreet.session.query import Query
from discreet.session.synthesize.codes import Coding
from discreet.session.synthesize.discover import SHARE, Discovered, Questions, codings_of
from discreet.session.synthesize.spec import SynthesisSpec
from discreet.tables.catalog import Catalog

_WORTH = Fraction(105, 100)  # choices cost more in μ² than in ρ; noise must be cheaper by so much


def budget_for(method: Name, epsilon: Fraction, delta: Fraction) -> MeasurementBudget:
    """The largest budget that is (ε, δ)-DP: in μ² where all noise is Gaussian or that is worth it, else in ρ."""
    square = gaussian_budget(epsilon, delta)
    if not square:
        raise Refused("a synthetic table needs a δ: connect with delta=1e-6, or pass delta=")
    if method == "residuals":
        return MeasurementBudget.gdp(square)
    ceiling = Approx(epsilon, delta)
    rho = greatest(lambda rho: Zcdp(rho).within(ceiling), epsilon + 1)
    return MeasurementBudget.gdp(square) if square > 2 * rho * _WORTH else MeasurementBudget.zcdp(rho)


@final
@frozen(eq=False, repr=False, slots=False)
class SynthesisPlan(PricedPlan):
    """What is asked, its whole price, and the plans of the questions that discover what is not declared."""

    spec: SynthesisSpec
    asked_epsilon: Fraction
    asked_delta: Fraction
    catalog: Catalog
    questions: Questions
    discovery: tuple[Plan, ...] = field()

    @classmethod
    def of(cls, spec: SynthesisSpec, pipeline: Pipeline, epsilon: Fraction, delta: Fraction) -> SynthesisPlan:
        """Price it: a tenth of ε, and half of δ if values are to be discovered, for what is not declared; the rest for the table."""
        missing = spec.undeclared
        share, mass = ZERO, ZERO
        if missing.questions:
            share = missing.questions * exact.grid_down(epsilon * SHARE / missing.questions)
            mass = len(missing.values) * exact.grid_down(delta / 2 / len(missing.values)) if missing.values else ZERO
        questions = Questions(missing, spec.name, tuple(spec.relation.schema), share, mass)
        discovery = tuple(
            Query.of_text(pipeline, text, contributions=spec.contributions).plan(part, chance) for text, part, chance in questions.priced
        )
        plan = cls(spec, epsilon, delta, pipeline.catalog, questions, discovery)
        assert plan.table_loss is not None  # or it says that a δ is missing
        return plan

    @cached_property
    def priced(self) -> PricedRequest:
        """The table at its whole price."""
        catalog = self.catalog
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        return PricedRequest("synthetic table", self.spec.asked, self.asked_epsilon, self.asked_delta, *declared)

    @property
    def title(self) -> str:
        """The table, and what is discovered first."""
        first = len(self.discovery)
        return f"synthetic {self.spec.name}, {len(self.spec.columns.names)} columns{f'; {first} discovered first' if first else ''}"

    @property
    def rest(self) -> tuple[Fraction, Fraction]:
        """What of the price goes to the table itself."""
        return self.epsilon - self.questions.epsilon, self.delta - self.questions.delta

    @cached_property
    def table_loss(self) -> Loss:
        """What the table itself costs, by whichever method is chosen when its columns are known."""
        asked = self.spec.method
        methods: tuple[Name, ...] = ("residuals", "aim") if asked == "auto" else (asked,)
        return Charge.either(Promised(budget_for(method, *self.rest).loss, *self.rest) for method in methods)

    @property
    def loss(self) -> Loss:
        """What discovery and table cost together."""
        return compose([*(plan.loss for plan in self.discovery), self.table_loss])

    @cached_property
    def decided(self) -> Decided | None:
        """How the table is made, if everything is declared."""
        return None if self.spec.undeclared.questions else self.decide(Discovered())

    def decide(self, found: Discovered) -> Decided:
        """How the table is made, given what was discovered."""
        spec, codings = self.spec, codings_of(self.spec.columns, found, self.spec.bins)
        domain = Domain(tuple(coding.name for coding in codings), tuple(coding.size for coding in codings))
        workload = spec.workload_over(domain)
        replaced = is_replacement(self.priced.adjacency)
        decided = Decided(codings, workload, choose(workload, spec.method), *self.rest, spec.rows or found.rows or 1, replaced)
        if spec.size is not None and spec.size < decided.records_needed:
            raise Refused(
                f"with {spec.size:,} records and ε = {float(self.epsilon):.3g} this is no better than independent columns (about "
                f"{decided.records_needed:,.0f} are needed): use fewer columns or bins, marginals of fewer columns (workload=2 or 1), "
                f"or a larger ε. {'Only what was not declared was paid for.' if self.discovery else 'Nothing was spent.'}"
            )
        return decided

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, and what discovery costs."""
        notes = [f"{column} is left out: {reason}" for column, reason in self.spec.columns.left_out]
        if self.discovery:
            notes.append(f"ε = {float(self.questions.epsilon):.3g} of the price went to what was not declared")
        return tuple(notes)

    def error(self, confidence: Number = 0.95) -> dict[str, float | None]:
        """About how far off a count in each marginal will be before the model is fitted, with this confidence.

        None where that cannot be told before paying: if columns are discovered first, or the method chooses what it measures.
        """
        level, decided = confidence_of(confidence), self.decided
        if decided is None:
            return dict.fromkeys(self.spec.columns.names)
        return decided.half_widths(float(level))

    def explain(self) -> str:
        """Who is protected, what is discovered and measured, what it costs and how far off it will be."""
        spec, decided = self.spec, self.decided
        lines = [f"a synthetic table of {spec.name}: {', '.join(spec.columns.names)}", f"protects {self.priced.protected}", *self.notes]
        lines += [f"discovered first, for {price(one.epsilon, one.delta)}: {one.title}" for one in self.discovery]
        if decided is not None:
            lines.append(f"by {decided.method}: {len(decided.workload.cliques):,} marginals of {decided.domain.size:,} combinations")
            lines.append(f"better than independent columns from about {decided.records_needed:,.0f} records on")
            known = [(name, width) for name, width in self.error().items() if width is not None]
            lines += [f"{name}: a count is within ± {width:,.4g}, 95 % of the time" for name, width in known[:10]]
        return "\n".join([*lines, *self._price_lines])


@final
@frozen(eq=False, slots=False)
class Decided:
    """Which columns as which codes, what is to be right, by which method: everything that is known once nothing is left to discover."""

    codings: tuple[Coding, ...] = field(repr=False)
    workload: Workload = field(repr=False)
    method: Name
    epsilon: Fraction = field(repr=str)
    delta: Fraction = field(repr=str)
    rows: int  # of one unit that contribute
    replaced: bool  # whether neighbours differ by a unit that is replaced

    @property
    def domain(self) -> Domain:
        """The columns and their codes."""
        return self.workload.domain

    @property
    def budget(self) -> MeasurementBudget:
        """What the method may spend."""
        return budget_for(self.method, self.epsilon, self.delta)

    @property
    def loss(self) -> Loss:
        """What the table itself costs."""
        return Promised(self.budget.loss, self.epsilon, self.delta)

    @property
    def counted(self) -> float:
        """How many records one unit moves between neighbours."""
        return float(self.rows * (2 if self.replaced else 1))

    @cached_property
    def records_needed(self) -> float:
        """About how many records there must be for this to be better than independent columns."""
        return records_needed(self.method, self.budget, self.workload, self.counted)

    def half_widths(self, confidence: float) -> dict[str, float | None]:
        """About how far off a count in each marginal will be, where the method measures all of them."""
        names = {clique: self.domain.shown(clique) for clique in self.workload.cliques}
        if self.method != "residuals":
            return dict.fromkeys(names.values())
        expected = Residuals(budget=self.budget, workload=self.workload).expected_errors(self.counted)
        z = NormalDist().inv_cdf((1 + confidence) / 2)  # the expected error is Σ over cells of √(2/π)·σ
        return {name: z * expected[clique] / (self.domain.cells(clique) * sqrt(2 / pi)) for clique, name in names.items()}

    @property
    def told(self) -> dict[str, Any]:
        """What was decided, as plain values, for the receipt."""
        return {
            "codings": [plain(coding) for coding in self.codings],
            "workload": [[list(clique), weight] for clique, weight in self.workload.weights.items()],
            "method": self.method,
            "rows": self.rows,
        }
