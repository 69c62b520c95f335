"""A plan: every step with its mechanism and price, decided before anything is read."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Table
from discreet.loss.loss import Loss
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.arrangement import Arrangement, Axis
from discreet.plan.bounding import Bounding, Votes
from discreet.plan.discovery import Discovered, Discovery, KeyDiscovery
from discreet.plan.found_keys import OpenKeys
from discreet.plan.key_values import KeyValues
from discreet.plan.scaling import Scaled
from discreet.query.question import Question
from discreet.query.relation.expr import Expr
from discreet.query.removed import Removed
from discreet.query.statistics.statistic import Selected, UnitWeight
from discreet.query.totals import Total, Totals
from discreet.tables.kind import Value
from discreet.tables.table import Contributions

Noise: TypeAlias = Literal["laplace", "gaussian"]


@final
@frozen
class NoisyTotal:
    """A total with its noise; the mechanism acts on whole numbers, of which 1 stands for `unit`."""

    total: Total
    scaled: Scaled
    mechanism: Laplace | Gaussian
    unit: Fraction
    combined: tuple[float, ...] = ()  # of several draws: the scale of each one's noise in their weighted mean
    table: Table | None = None  # in which it is measured, where several tables add up

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return isinstance(self.mechanism, Gaussian)

    @property
    def scale(self) -> float:
        """The noise's scale (Laplace) or standard deviation (Gaussian), in the total's own units."""
        return math.hypot(*self.combined) if self.combined else float(self.mechanism.scale * self.unit)

    @property
    def scales(self) -> tuple[float, ...]:
        """The scale of each independent noise in it."""
        return self.combined or (self.scale,)

    @property
    def variance(self) -> float:
        """The noise's variance, in the square of the total's own units."""
        return self.scale**2 * (1 if self.is_gaussian else 2)


@final
@frozen(eq=False)
class EstimatedTotal:
    """A total that is computed from several noisy tables; its error is nearly normal, with a standard deviation in each group."""

    total: Total
    unit: Fraction
    scale: NDArray[np.float64]  # of normal noise with an interval as wide
    deviation: NDArray[np.float64]
    is_gaussian: bool = True

    @property
    def scales(self) -> tuple[NDArray[np.float64], ...]:
        """The scale of each independent noise in it."""
        return (self.scale,)

    @property
    def combined(self) -> tuple[NDArray[np.float64], ...]:
        """The same: it is never a single draw."""
        return (self.scale,)

    def taken(self, rows: list[int]) -> EstimatedTotal:
        """The same in some of its groups."""
        return evolve(self, scale=self.scale[rows], deviation=self.deviation[rows])


@final
@frozen
class Choice:
    """A value that a statistic's mechanism selects for each group."""

    name: str
    statistic: Selected[Any]
    mechanism: Mechanism[Any]
    bounding: Bounding | Votes
    candidates: tuple[Value, ...] = ()
    confidence: Fraction = Fraction(95, 100)

    @property
    def unit(self) -> UnitWeight:
        """The weight of a unit."""
        most = self.bounding.weight if isinstance(self.bounding, Votes) else self.bounding.sensitivity.l1
        return UnitWeight(most, self.bounding.one, self.confidence)

    @property
    def expr(self) -> Expr:
        """The expression whose value is selected."""
        return self.statistic.expr


@final
@frozen
class Budget:
    """How the price is split, whatever is discovered: δ and ε for the totals together, ε for each choice."""

    noise: Noise
    epsilon: Fraction
    delta: Fraction
    choices: tuple[tuple[str, Fraction], ...]
    centred: bool
    share: Fraction = Fraction(1)  # of the Gaussian noise's (ε, δ), where several plans are paid for together


@final
@frozen
class Steps:
    """A question with all decisions: what is discovered first, how contributions are bounded, each mechanism, the loss.

    Totals and choices stay empty until all discoveries are made; their prices are fixed before.
    """

    question: Question
    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    policy: str  # the digest of the declared policy
    version: str
    protected: str
    contributions: Contributions
    budget: Budget
    discoveries: tuple[Discovery, ...]
    public_groups: KeyValues | None
    loss: Loss
    discovered: Discovered = Discovered()
    bounding: Bounding | None = None
    groups: KeyValues | None = None  # in the order in which they are shown
    available_totals: Totals | None = None  # the totals that statistics are computed from
    totals: tuple[NoisyTotal, ...] = ()
    choices: tuple[Choice, ...] = ()
    removed: Removed | None = None  # what bounding takes away, where a profile tells
    arrangement: Arrangement | None = None  # of the cells of all grouping sets, where the question has several
    open_keys: OpenKeys | None = None  # of grouping sets, where some keys are not declared: the arrangement follows from what is found
    axes: tuple[Axis, ...] | None = None  # which number the cells of rows, where keys have one more value for all others
    parts: tuple[Steps, ...] = ()  # for each of them, what is measured for it alone: totals that do not add up, and choices
    notes: tuple[str, ...] = ()
    confidence: Fraction = Fraction(95, 100)  # of the intervals whose ends mechanisms choose

    @property
    def resolved(self) -> bool:
        """Whether nothing is left to be discovered."""
        return self.bounding is not None

    @property
    def key_discoveries(self) -> tuple[KeyDiscovery, ...]:
        """How groups are discovered, where they are not public: together, or for each key of grouping sets."""
        return tuple(one for one in self.discoveries if isinstance(one, KeyDiscovery) and one.statistic is None)

    def shown(self, size: int) -> float:
        """The probability that a group of `size` units, each in no other group, is shown; 1 where the groups are public.

        Where each key has a search of its own, it is that of a group whose values nobody else has; larger coarse groups are likelier.
        """
        return math.prod(finder.mechanism.chance(size) for finder in self.key_discoveries)
