"""The plan of a synthetic table: what is discovered first, what is measured and what it costs, decided before anything is read."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import isinf, pi, sqrt
from statistics import NormalDist
from typing import Any, final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import Name, choose, dense_forecast, predicted_seconds, reason, records_needed
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Refused
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.chain import digest
from discreet.ledger.price import price
from discreet.ledger.receipt import PricedRequest
from discreet.loss.certify import greatest
from discreet.loss.charge import Charge
from discreet.loss.convert import gaussian_budget
from discreet.loss.loss import Loss, compose
from discreet.loss.notions import Approx, Zcdp
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import is_replacement
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.session.pipeline import Pipeline
from discreet.session.priced_plan import PricedPlan
from discreet.session.profile.plan import ProfilePlan
from discreet.session.synthesize.codings import codings_of
from discreet.session.synthesize.discover import Columns
from discreet.session.synthesize.domains import Coding, Domains
from discreet.session.synthesize.spec import SynthesisSpec
from discreet.tables.catalog import Catalog
from discreet.tables.profile import TableProfile
from discreet.tables.table import Contributions

_WORTH = Fraction(105, 100)  # choices cost more in μ² than in ρ; noise must be cheaper by so much


def budget_for(method: Name, epsilon: Fraction, delta: Fraction) -> MeasurementBudget:
    """The largest budget that is (ε, δ)-DP: in μ² where all noise is Gaussian or that is worth it, else in ρ."""
    square = gaussian_budget(epsilon, delta)
    if not square:
        raise Refused("a synthetic table needs a delta above 0: connect with delta=1e-6, or pass delta=")
    if method == "residuals":
        return MeasurementBudget.gdp(square)
    ceiling = Approx(epsilon, delta)
    rho = greatest(lambda rho: Zcdp(rho).within(ceiling), epsilon + 1)
    return MeasurementBudget.gdp(square) if square > 2 * rho * _WORTH else MeasurementBudget.zcdp(rho)


@final
@frozen(eq=False, repr=False, slots=False)
class SynthesisPlan(PricedPlan):
    """What is asked, its whole price, and the profile that discovers what is not declared."""

    spec: SynthesisSpec
    asked_epsilon: Fraction
    asked_delta: Fraction
    catalog: Catalog
    discovery: ProfilePlan | None = field()

    @classmethod
    def of(cls, spec: SynthesisSpec, pipeline: Pipeline, epsilon: Fraction, delta: Fraction) -> SynthesisPlan:
        """Price it: up to a third of ε and half of δ for a profile of what is not declared; the rest for the table."""
        discovery = None
        if missing := spec.undeclared:
            table = pipeline.catalog.table(spec.name)
            assert table is not None  # discovery is of a whole table
            share, mass = exact.grid_down(epsilon * missing.share(len(spec.columns.names))), exact.grid_down(delta / 2)
            table = table if spec.rows is None else evolve(table, contributions=Contributions(rows=spec.rows))
            columns = missing.columns or frozenset(spec.columns.names)
            name = digest(["synthetic table", spec.asked, str(epsilon), str(delta), pipeline.catalog.digest])
            discovery = ProfilePlan.of(table, spec.relation, pipeline.catalog, name, share, mass, columns)
        plan = cls(spec, epsilon, delta, pipeline.catalog, discovery)
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
        first = 0 if self.discovery is None else len(self.discovery.tasks)
        return f"synthetic {self.spec.name}, {len(self.spec.columns.names)} columns{f'; {first} discovered first' if first else ''}"

    @property
    def rest(self) -> tuple[Fraction, Fraction]:
        """What of the price goes to the table itself."""
        first = self.discovery
        return (self.epsilon, self.delta) if first is None else (self.epsilon - first.epsilon, self.delta - first.delta)

    @cached_property
    def table_loss(self) -> Loss:
        """What the table itself costs, by whichever method is chosen when its columns are known."""
        asked = self.spec.method
        methods: tuple[Name, ...] = ("residuals", "aim") if asked == "auto" else (asked,)
        return Charge.either(Promised(budget_for(method, *self.rest).loss, *self.rest) for method in methods)

    @property
    def loss(self) -> Loss:
        """What discovery and table cost together."""
        return self.table_loss if self.discovery is None else compose([self.discovery.loss, self.table_loss])

    @cached_property
    def decided(self) -> Decided | None:
        """How the table is made, if everything is declared."""
        return None if self.spec.undeclared else self.decide(Domains())

    def decide(self, found: Domains, profile: TableProfile | None = None) -> Decided:
        """How the table is made, given what was discovered; columns without a declared type have the one that the profile found."""
        spec = self.spec if profile is None else self.spec.typed(profile)
        known = spec.known | found
        columns = spec.columns.found(spec.undeclared, known)
        codings = codings_of(columns, known, spec.bins)
        domain = Domain(columns.names, tuple(coding.size for coding in codings))
        spec.require_without({name: why for name, why in columns.left_out if name in spec.columns.names})
        workload = spec.workload_over(domain)
        replaced = is_replacement(self.priced.adjacency)
        decided = Decided(
            spec.table, columns, codings, workload, choose(workload, spec.method, spec.device, spec.limit), *self.rest,
            spec.rows or found.rows or spec.known.rows or 1, replaced, spec.limit, spec.device,
            {name: share for name, share in known.beyond.items() if name in columns.names},
        )  # fmt: skip
        if spec.size is not None and spec.size < decided.records_needed:
            raise Refused(
                f"with {spec.size:,} records and ε = {float(self.epsilon):.3g} this is no better than independent columns (about "
                f"{decided.records_needed:,.0f} are needed): use fewer columns or bins, marginals of fewer columns (workload=2 or 1), "
                f"or a larger ε. {'Only the discoveries were charged.' if self.discovery is not None else 'Nothing was charged.'}"
            )
        return decided

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, and what discovery costs."""
        notes = notes_on(self.spec.columns)
        if self.discovery is not None:
            notes.append(f"ε = {float(self.discovery.epsilon):.3g} of the price went to discovering what was not declared")
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
        if (first := self.discovery) is not None:
            lines.append(f"discovered first, for {price(first.epsilon, first.delta)}: {first.title}")
            if untyped := [task.column.name for task in first.tasks if task.how == "untyped"]:
                lines.append(f"types that nobody declared are found with it: {_few(untyped)}")
        if listed := [name for name in spec.columns.names if name in spec.undeclared.values or name in spec.known.values]:
            lines.append(f"values of {_few(listed)} that are not found, and NULL, come out as missing; how many is said with the table")
        if decided is not None:
            lines.append(decided.choice(spec.method))
            if decided.method == "residuals":
                lines.append(str(dense_forecast(decided.workload, decided.device)))
            allowed = "" if isinf(decided.limit) else f"; {decided.limit:g} s are allowed (seconds=)"
            lines.append(f"computes for up to about {max(decided.seconds, 1):.0f} s on one core, beside counting{allowed}")
            lines.append(f"{len(decided.workload.cliques):,} marginals of {decided.domain.size:,} combinations of values")
            lines.append(
                f"better than independent columns from about {decided.records_needed:,.0f} records on; with fewer, columns are independent"
            )
            known = [(name, width) for name, width in self.error().items() if width is not None]
            lines += [f"{name}: a count is within ± {width:,.4g}, 95 % of the time" for name, width in known[:10]]
        return "\n".join([*lines, *self._price_lines])


@final
@frozen(eq=False, slots=False)
class Decided:
    """Which columns as which codes, what is to be right, by which method: everything that is known once nothing is left to discover."""

    table: QueryBuilder[Any] = field(repr=False)  # with the types that were found
    columns: Columns = field(repr=False)
    codings: tuple[Coding, ...] = field(repr=False)
    workload: Workload = field(repr=False)
    method: Name
    epsilon: Fraction = field(repr=str)
    delta: Fraction = field(repr=str)
    rows: int  # of one unit that contribute
    replaced: bool  # whether neighbours differ by a unit that is replaced
    limit: float  # of the seconds that it is predicted to compute
    device: str = "auto"  # where a model over the whole domain is fitted
    beyond: dict[str, float] = field(factory=dict, repr=False)  # the share of rows that may lie beyond a column's bins

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

    def choice(self, asked: str) -> str:
        """Which method was taken, and why."""
        return f"by {self.method}, as asked" if asked != "auto" else f"by {self.method}: {reason(self.workload, self.device, self.limit)}"

    @property
    def seconds(self) -> float:
        """About how long it computes at most, beside counting in the engine; from public sizes."""
        return predicted_seconds(self.method, self.workload, self.device, self.limit)

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
        } | ({"beyond": self.beyond} if self.beyond else {})


def notes_on(columns: Columns) -> list[str]:
    """Which columns and rows are left out, and why."""
    notes = [f"{column} is left out: {reason}" for column, reason in columns.left_out]
    if restricted := columns.restricted:
        notes.append(
            f"rows with a value that is not declared, or none, are left out ({_few(restricted)}); other=True gives them a category"
        )
    return notes


def _few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
