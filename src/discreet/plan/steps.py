"""What will happen: every step with its mechanism and price, decided before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from discreet.engines.dialect import Dialect
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Bounding, Votes
from discreet.plan.discovery import Find, FindKeys
from discreet.plan.total import Scaled, Stat
from discreet.query.question import Question
from discreet.query.relation.expr import Expr
from discreet.run.source import KeyValues, Source
from discreet.tables.kind import Value
from discreet.tables.table import Contributions

Noise: TypeAlias = Literal["laplace", "gaussian"]


@final
@frozen
class Total:
    """A total with its noise; the mechanism acts on whole numbers, of which 1 stands for `unit`."""

    stat: Stat
    scaled: Scaled
    mechanism: Laplace | Gaussian
    unit: Fraction

    @property
    def is_gaussian(self) -> bool:
        """Which noise it is."""
        return isinstance(self.mechanism, Gaussian)

    @property
    def scale(self) -> float:
        """The noise's scale (Laplace) or standard deviation (Gaussian), in the statistic's own units."""
        return float(self.mechanism.scale * self.unit)


@final
@frozen
class Choice:
    """A value chosen for each group: a quantile, or the most popular of some candidates."""

    measure: str
    expr: Expr
    mechanism: Quantile | NoisyMax
    bounding: Bounding | Votes
    candidates: tuple[Value, ...] = ()


@final
@frozen
class Budget:
    """How the price is split, whatever is found: δ and ε for the totals together, ε for each choice."""

    noise: Noise
    epsilon: Fraction
    delta: Fraction
    choices: tuple[tuple[str, Fraction], ...]
    centred: bool


@final
@frozen
class Found:
    """What the finds found; public."""

    limits: Mapping[str, int] = field(factory=dict)
    bounds: Mapping[tuple[Expr, str], Fraction] = field(factory=dict)
    groups: KeyValues | None = None
    candidates: Mapping[str, tuple[Value, ...]] = field(factory=dict)


@final
@frozen
class Steps:
    """A question with everything decided: what is found first, how rows are bounded, each mechanism, the loss.

    Until what is open is found, totals and choices wait for it; their prices do not.
    """

    question: Question
    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    policy: str  # the digest of all that was declared
    version: str
    protected: str
    dialect: Dialect
    contributions: Contributions
    budget: Budget
    finds: tuple[Find, ...]
    public_groups: KeyValues | None
    loss: Loss
    found: Found
    bounding: Bounding | None = None
    groups: KeyValues | None = None  # in the order in which they are shown
    totals: tuple[Total, ...] = ()
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be found."""
        return self.bounding is not None

    @property
    def source(self) -> Source:
        """The rows this plan reads; with an "other" group none are left out."""
        return Source(self.question.relation, self.question.keys, self.groups, self.dialect, self.question.other)

    @property
    def key_finder(self) -> FindKeys | None:
        """How groups are found, where they are not public."""
        return next((find for find in self.finds if isinstance(find, FindKeys) and find.measure is None), None)

    def shown(self, size: int) -> float:
        """The chance that a group of so many units, each in no other group, is shown; 1 where the groups are public."""
        finder = self.key_finder
        if finder is None:
            return 1.0
        return finder.mechanism.chance(size)
