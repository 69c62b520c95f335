"""A recipe: everything that is decided about a synthetic table before anything is read for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import Name, records_needed
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Refused
from discreet.loss.certify import greatest
from discreet.loss.convert import gaussian_budget
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx, Zcdp
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.query.canonical import fingerprint, plain
from discreet.query.fluent import Ask
from discreet.session.synthesize.codes import Coding

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
@frozen(eq=False)
class Recipe:
    """Which columns as which codes, what is to be right, by which method, and what it costs."""

    table: str
    table_asked: Ask[Any] = field(repr=False)
    codings: tuple[Coding, ...] = field(repr=False)
    workload: Workload = field(repr=False)
    method: Name
    epsilon: Fraction = field(repr=str)
    delta: Fraction = field(repr=str)
    rows: int  # of one unit that count
    policy: str = field(repr=False)
    version: str = field(repr=False)
    protected: str = field(repr=False)
    adjacency: Adjacency = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

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
        """What is claimed."""
        return Promised(self.budget.loss, self.epsilon, self.delta)

    @property
    def records_needed(self) -> float:
        """About how many records there must be for this to be better than independent columns."""
        counted = self.rows * (2 if is_replacement(self.adjacency) else 1)
        return records_needed(self.method, self.budget, self.workload, float(counted))

    @property
    def asked(self) -> dict[str, Any]:
        """The question as plain values."""
        return {
            "is": "Synthesize",
            "relation": plain(self.table_asked.relation),
            "codings": [plain(coding) for coding in self.codings],
            "workload": [[list(clique), weight] for clique, weight in self.workload.weights.items()],
            "method": self.method,
            "rows": self.rows,
        }

    @property
    def question(self) -> str:
        """The name of this question at its price, under its policy and for its version of the data."""
        return fingerprint([self.asked, str(self.epsilon), str(self.delta), self.policy, self.version])
