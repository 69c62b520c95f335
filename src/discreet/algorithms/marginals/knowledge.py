"""What is known of a table: noisy residuals, their precisions, and the purchase that makes an answer precise enough.

Every linear query is a sum over the residuals of its clique's subsets (see residual.py), and a residual serves every query that uses its
columns. So precision is bought for residuals: it adds up over purchases, no purchase is wasted, and all answers are consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, inf, isqrt, prod, sqrt
from typing import NamedTuple, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.counts import Counts
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.residual import Residual, contrasts
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.gaussian import Gaussian

Floats = NDArray[np.float64]
BITS = 6  # fractional bits of the contrasts
MOST_COLUMNS, MOST_CODES, MOST_CELLS = 5, 2**9, 2**14  # of a clique whose residuals are measured
_FINE = 2**10
_UNEVEN = 0.04  # rounded contrasts make some cells more precise than others: a purchase for one should suffice for all
_LEVELS = 100


class Known(NamedTuple):
    """A residual in records, and its precision: 1/variance of each number."""

    values: Floats
    precision: float


class Direct(NamedTuple):
    """An unbiased estimate in records, its variance, and the largest additional error from rounding to whole numbers."""

    value: float
    variance: float
    rounding: float

    def half_width(self, z: float) -> float:
        """The half-width of the interval of z standard deviations."""
        return z * sqrt(self.variance) + self.rounding


@final
@frozen
class ResidualPurchase:
    """Residuals to measure, with the noise of each, and their cost if each is shared by the questions it will serve."""

    clique: Clique
    steps: tuple[tuple[Clique, Gaussian], ...]
    shared: float

    @property
    def loss(self) -> Loss:
        """The loss of the whole purchase."""
        return compose(mechanism.loss for _, mechanism in self.steps)


@final
class Knowledge:
    """The residuals known so far.

    Each was measured with Gaussian noise for its sensitivity (`Residual.sensitivity_squared`).
    """

    def __init__(self, counts: Counts, expected: int) -> None:
        self.domain, self.known = counts.domain, dict[Clique, Known]()
        self.purchases = 0
        self._counts, self._expected = counts, expected
        self._sensitivities: dict[Clique, Fraction] = {}
        self.direct = lru_cache(4096)(self._direct)  # cleared when something is learnt
        self._parts: Callable[[LinearQuery], Mapping[Clique, Floats]] = lru_cache(1024)(self._split)

    @property
    def total(self) -> float:
        """The number of records, at least 1."""
        return max(1.0, float(self.known[()].values[0])) if () in self.known else 1.0

    def fits(self, clique: Clique) -> bool:
        """Whether a clique is small enough for its residuals to be measured."""
        is_narrow = len(clique) <= MOST_COLUMNS and max(self.domain.shape(clique), default=1) <= MOST_CODES
        return is_narrow and self.domain.cells(clique) <= MOST_CELLS

    def plan(self, query: LinearQuery, width: float, z: float) -> ResidualPurchase:
        """The purchase after which a query's estimate has this half-width.

        Let v be a residual's share in the query's variance, p its price for one unit of precision, and g the number of cliques of the same
        size that will share it. Σ p·τ/g is least for τ ∝ √(v·g/p), where τ is at least the precision already known.
        """
        parts, columns = self._parts(query), len(self.domain.names)
        size = len(query.clique)
        cliques = min(self._expected, comb(columns, size))
        shares, prices, needs, have = [], [], [], []
        for part, coefficients in parts.items():
            unit = Residual(self.domain, part, BITS).unit * self._counts.one
            shares.append(max(1.0, cliques * comb(columns - len(part), size - len(part)) / comb(columns, size)))
            prices.append((float(self._sensitivity(part)) / unit) ** 2)
            needs.append(float((coefficients**2).sum()))
            have.append(self.known[part].precision if part in self.known else 0.0)
        rounding = sum(self._rounding(part, coefficients) for part, coefficients in parts.items())
        margin = 1e-9 if max(query.shape, default=2) == 2 else _UNEVEN
        variance = (max(width - rounding, width / 2) * (1 - margin) / z) ** 2
        share, price, need, held = (np.array(one) for one in (shares, prices, needs, have))
        used = need > 1e-24
        shape = np.where(used, np.sqrt(need * share / price), 0.0)

        def variance_at(level: float) -> float:
            return float((need[used] / np.maximum(held, level * shape)[used]).sum())

        low, high = 1e-30, 1e30
        for _ in range(_LEVELS):
            level = sqrt(low) * sqrt(high)
            low, high = (level, high) if variance_at(level) > variance else (low, level)
        more = np.maximum(high * shape - held, 0.0)
        bought = more > held * 1e-9
        steps = tuple(
            (part, self._mechanism(part, float(extra))) for part, extra, is_bought in zip(parts, more, bought, strict=True) if is_bought
        )
        return ResidualPurchase(query.clique, steps, float((price * more / share)[bought].sum()) / 2)

    def learn(self, clique: Clique, values: Floats, mechanism: Gaussian) -> None:
        """Add a mechanism's release of a residual, in whole numbers."""
        unit = Residual(self.domain, clique, BITS).unit * self._counts.one
        fresh, precision = np.asarray(values, np.float64).ravel() / unit, (unit / float(mechanism.scale)) ** 2
        if (old := self.known.get(clique)) is not None:
            fresh = (old.precision * old.values + precision * fresh) / (old.precision + precision)
            precision += old.precision
        self.known[clique] = Known(fresh, precision)
        self.purchases += 1
        self.direct.cache_clear()

    def total_mechanism(self, deviation: Fraction) -> Gaussian:
        """The mechanism for the number of records with this standard deviation, in records."""
        return Gaussian(scale=deviation * self._counts.one, sensitivity=self._sensitivity(()), whole=True)

    def marginal(self, clique: Clique) -> tuple[Floats, float] | None:
        """The estimate of a whole marginal and the root mean variance of its cells; None if a part is unknown."""
        parts = [part for k in range(len(clique) + 1) for part in combinations(clique, k) if self._size(part)]
        if any(part not in self.known for part in parts):
            return None
        array, spread = np.zeros(self.domain.shape(clique)), np.zeros(self.domain.shape(clique))
        for part in parts:
            block = tuple(slice(1, None) if i in part else slice(0, 1) for i in clique)
            array[block] = self.known[part].values.reshape(array[block].shape)
            spread[block] = 1 / self.known[part].precision
        for axis, i in enumerate(clique):
            array = np.moveaxis(np.tensordot(_backward(self.domain.sizes[i]), array, (1, axis)), 0, axis)
            spread = np.moveaxis(np.tensordot(_backward(self.domain.sizes[i]) ** 2, spread, (1, axis)), 0, axis)
        return array.ravel(), sqrt(float(spread.mean()))

    def _direct(self, query: LinearQuery) -> Direct:
        """A query's unbiased estimate from residuals alone; its variance is infinite if one of them is unknown."""
        value = variance = rounding = 0.0
        for part, coefficients in self._parts(query).items():
            need = float((coefficients**2).sum())
            if need <= 1e-24:
                continue
            if part not in self.known:
                return Direct(0.0, inf, 0.0)
            known = self.known[part]
            value += float(coefficients @ known.values)
            variance += need / known.precision
            rounding += self._rounding(part, coefficients)
        return Direct(value, variance, rounding)

    def _split(self, query: LinearQuery) -> dict[Clique, Floats]:
        """The coefficients of a query on each residual."""
        array = query.array / query.top
        for axis, i in enumerate(query.clique):
            array = np.moveaxis(np.tensordot(array, _backward(self.domain.sizes[i]), (axis, 0)), -1, axis)
        found = {}
        for k in range(len(query.clique) + 1):
            for part in combinations(query.clique, k):
                found[part] = array[tuple(slice(1, None) if i in part else 0 for i in query.clique)].ravel()
        return found

    def _rounding(self, part: Clique, coefficients: Floats) -> float:
        return float(np.abs(coefficients).sum()) / (2 * Residual(self.domain, part, BITS).unit * self._counts.one)

    def _size(self, clique: Clique) -> int:
        return prod(size - 1 for size in self.domain.shape(clique))

    def _mechanism(self, clique: Clique, precision: float) -> Gaussian:
        """Gaussian noise of this precision, in records, or slightly less noise, with a short scale."""
        unit = Residual(self.domain, clique, BITS).unit * self._counts.one
        scale = max(1, int(unit / sqrt(precision) * _FINE * (1 - 1e-9)))
        return Gaussian(scale=Fraction(scale, _FINE), sensitivity=self._sensitivity(clique), whole=True)

    def _sensitivity(self, clique: Clique) -> Fraction:
        """The ℓ₂ sensitivity of a residual, in whole numbers, rounded up."""
        if clique not in self._sensitivities:
            square = Residual(self.domain, clique, BITS).sensitivity_squared(self._counts.l1_sensitivity, self._counts.l2_sensitivity)
            self._sensitivities[clique] = _root_up(square) if clique else Fraction(self._counts.one_sided_sensitivity)  # a total
        return self._sensitivities[clique]


def _root_up(square: Fraction) -> Fraction:
    """A short number whose square is at least this."""
    scaled = -(-square * _FINE**2 // 1)
    root = isqrt(scaled)
    return Fraction(root + (root * root < scaled), _FINE)


@lru_cache(256)
def _backward(size: int) -> Floats:
    """Cells from their sum and contrasts."""
    return np.asarray(np.linalg.inv(np.vstack([np.ones(size), contrasts(size, BITS) / 2**BITS])))
