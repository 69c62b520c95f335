"""Second moments: the covariance and the mean of vectors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.magnitude import Magnitude
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

_LEVELS = 2**16  # a vector whose length is the norm has this length on the grid
_ROWS = 2**19  # rows whose products a float sums exactly in any order: 2^19 · 2 · 2^32 ≤ 2^52
_WIDEST, _FURTHEST = 10_000, 1e300


@final
@frozen(eq=False)
class Moments:
    """Noisy sums of xxᵀ and, if centred, of x and of 1; mean and covariance are computed from them."""

    second: Floats  # Σ xxᵀ, symmetric
    total: Floats | None  # Σ x
    count: float | None
    norm: float  # to which records were clipped

    @property
    def mean(self) -> Floats:
        """Σ x / count."""
        if self.total is None or self.count is None:
            raise Invalid("the mean was not released: use Covariance(…, centred=True)")
        return np.asarray(self.total / max(self.count, 1.0))

    @property
    def covariance(self) -> Floats:
        """Σ xxᵀ / count − mean·meanᵀ, projected to the nearest positive semidefinite matrix."""
        mean, count = self.mean, max(self.count or 0.0, 1.0)
        return positive_semidefinite(self.second / count - np.outer(mean, mean))

    def __repr__(self) -> str:
        size = "" if self.count is None else f"about {self.count:,.0f} records, "
        return f"Moments({size}{len(self.second)} dimensions, norm {self.norm:g})"


def positive_semidefinite(matrix: Floats) -> Floats:
    """The nearest positive semidefinite matrix in every unitarily invariant norm; post-processing, so it costs no privacy."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


@final
@frozen(kw_only=True, init=False)
class Covariance(Mechanism[Moments]):
    """Release the sum of xxᵀ over vectors, one for each unit, clipped to a Euclidean norm; with `centred`, also their sum and number.

    Set rho, or epsilon and delta. Without `norm`, a power of two that few vectors exceed is found first, at a further pure ε of
    `search`. Longer vectors are scaled down to the norm, and all are rounded to a grid of norm/2¹⁶, each by itself. A missing entry is 0,
    and a vector of the wrong length is all 0. All sums are exact integers.

    Theorem (Dwork, Talwar, Thakurta & Zhang 2014; Bun & Steinke 2016).
        Take the upper triangle of M = Σ xxᵀ with √2 times what is off the diagonal: its Euclidean norm is M's Frobenius norm. One vector
        of norm C has ‖xxᵀ‖ = ‖x‖² ≤ C², and replacing one, ‖xxᵀ − yyᵀ‖² = ‖x‖⁴ + ‖y‖⁴ − 2(x·y)² ≤ 2C⁴. So Gaussian noise of scale σ on
        the diagonal and σ/√2 off it is ρ-zCDP for ρ = Δ²/(2σ²), with Δ = C², or √2·C² where units are replaced. With `centred`, a
        constant C is appended to each vector, whose norm is then √2·C.

    Lemma. The grid does not change that: a vector's length and whole numbers depend on it alone and have ‖g‖ ≤ 2¹⁶ in exact arithmetic (one
        that would exceed it when rounded to the nearest is rounded towards 0).

    Proof. Each entry is read as the nearest float, in any kind of array. All further steps are single float operations on entries,
        each correctly rounded; the maximum of a row, which does not depend on an order; and sums of squares, in the order of the
        columns. (`sum(axis=1)` adds in an order that depends on the memory layout, and so on other records.)

    Accuracy.
        `error(confidence)` is the largest absolute eigenvalue of the noise added to Σ xxᵀ, in units of norm²: at most σ(√(2d) +
        √(2 ln(2/β))) + d/2 on the grid. (The noise is a Gaussian orthogonal ensemble; its norm has mean at most √(2d)·σ and is
        σ-Lipschitz; rounding adds ½ in each entry.) The grid itself changes Σ xxᵀ by at most n·√d·norm²/2¹⁶, and
        `positive_semidefinite` at most doubles the error.

    >>> moments = Covariance(dimension=2, norm=3, rho=0.5).release([[1, 1], [1, -1]] * 5000)
    >>> moments.covariance.round(1) + 0.0
    array([[0., 0.],
           [0., 1.]])
    """

    dimension: int
    norm: Fraction | None = field(repr=str)
    gaussian: Gaussian = field(repr=False)
    search: Fraction | None = field(repr=str)
    adjacency: Adjacency
    centred: bool

    def __init__(
        self,
        *,
        dimension: int,
        norm: Number | None = None,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        search: Number | None = None,
        adjacency: Adjacency = "add/remove",
        centred: bool = True,
    ) -> None:
        if (norm is None) == (search is None):
            raise Invalid("set norm, to which vectors are clipped, or search, the ε to find it with")
        if exact.whole(dimension, "dimension") > _WIDEST:
            raise Invalid(f"dimension must be at most {_WIDEST:,}, for the products of more would not fit in memory")
        if centred is not True and centred is not False:
            raise Invalid("centred must be True or False")
        squared = _squared(is_replacement(adjacency), centred)
        change = exact.rational_up(lambda: exact.ball(squared).sqrt())
        self.__attrs_init__(
            dimension=dimension,
            norm=None if norm is None else parameter.scale(norm),
            gaussian=Gaussian(rho=rho, epsilon=epsilon, delta=delta, sensitivity=change, whole=True),
            search=None if search is None else parameter.some_epsilon(search),
            adjacency=adjacency,
            centred=centred,
        )

    @property
    def loss(self) -> Loss:
        # with Δ² itself; `sensitivity` is its root, rounded up
        noise: Loss = leaves.GaussianLoss(_squared(is_replacement(self.adjacency), self.centred) / self.gaussian.scale**2)
        return noise if self.search is None else noise + Magnitude(epsilon=self.search).loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        exact.whole(size, "size")
        beta, d, sigma = exact.miss(exact.confidence_level(confidence)), self.dimension, float(self.gaussian.scale)
        bound = sigma * (math.sqrt(2 * d) + math.sqrt(2 * (math.log(2) - math.log(beta)))) + d / 2
        return bound * (1 + 1e-9) / _LEVELS**2

    def check(self, answer: Any) -> None:
        try:
            rows = np.asarray(answers.unmasked(answer))
        except ValueError:  # rows of different lengths
            rows = np.zeros(0)
        if rows.ndim != 2 or rows.shape[1] != self.dimension or rows.dtype.kind not in "biuf":
            raise Invalid("give the vectors as rows of a numeric array with `dimension` columns")
        if not np.isfinite(rows).all():
            raise Invalid("some vectors contain NaN or infinity: fill or drop them first")

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    @np.errstate(all="ignore")
    def sample(self, answer: Any, bits: Bits) -> Moments:
        rows = _rows(answer, self.dimension)
        # the noise on the grid does not depend on the norm, so the norm may be found first
        norm = float(self.norm) if self.norm is not None else Magnitude(epsilon=self.search or 1).sample(_lengths(rows), bits)
        noisy, d = self._noisy(self.sums(rows, norm), bits), self.dimension
        if not self.centred:
            return Moments(noisy * (norm / _LEVELS) ** 2, None, None, norm)
        count = len(rows) if is_replacement(self.adjacency) else noisy[d, d] / _LEVELS**2
        return Moments(noisy[:d, :d] * (norm / _LEVELS) ** 2, noisy[:d, d] / _LEVELS**2 * norm, float(count), norm)

    def sums(self, rows: Floats, norm: float) -> Integers:
        """Σ ggᵀ over the vectors on the grid, exactly."""
        width = self.dimension + self.centred
        found: Integers = np.zeros((width, width), np.int64)
        many = min(_ROWS, max(2**23 // width, 1))
        for start in range(0, len(rows), many):
            part = vectors_on_grid(rows[start : start + many], norm)
            if self.centred:
                part = np.concatenate([part, np.full((len(part), 1), float(_LEVELS))], axis=1)
            found += (part.T @ part).astype(np.int64)
        return found

    def _noisy(self, exactly: Integers, bits: Bits) -> Floats:
        """Add noise to the upper triangle and mirror it."""
        off = exact.rational_up(lambda: exact.ball(self.gaussian.scale**2 / 2).sqrt())
        smaller = Gaussian(scale=off, sensitivity=self.gaussian.sensitivity, whole=True)
        above = np.triu_indices(len(exactly), 1)
        out = np.diag(np.asarray(self.gaussian.sample(exactly.diagonal().copy(), bits), np.float64))
        if len(above[0]):
            out[above] = np.asarray(smaller.sample(exactly[above], bits), np.float64)
            out.T[above] = out[above]
        return out


def _squared(replaced: bool, centred: bool) -> Fraction:
    """Δ² on the grid: (‖g‖²)²; the appended constant doubles ‖g‖², and replacing a vector doubles Δ²."""
    return Fraction((_LEVELS**2 * (2 if centred else 1)) ** 2 * (2 if replaced else 1))


@np.errstate(all="ignore")
def _rows(answer: Any, dimension: int) -> Floats:
    """Read vectors as rows of floats, each by itself; a missing entry is 0.

    One record can decide the type of the whole array (a string makes it an array of objects), so all types are read as the same floats.
    """
    answer = answers.unmasked(answer)
    if hasattr(answer, "__array__"):
        answer = np.asarray(answer)
    if not isinstance(answer, list | tuple | np.ndarray) or getattr(answer, "ndim", 1) == 0:
        raise Invalid("give the vectors as rows of an array, or as a list")
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "c":  # one complex record makes the whole array complex
        answer = np.where(answer.imag == 0, answer.real, 0)
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "biuf" and answer.ndim == 2 and answer.shape[1] == dimension:
        read = np.nan_to_num(answer.astype(np.float64, order="C"))
    elif isinstance(answer, np.ndarray) and answer.dtype.kind not in "biufO":
        read = np.zeros((len(answer), dimension))  # dates are stored as numbers, but are not numbers
    else:
        read = np.array([_entries(vector, dimension) for vector in answer], np.float64).reshape(len(answer), dimension)
    return np.clip(read, -_FURTHEST, _FURTHEST)


def _entries(vector: Any, dimension: int) -> list[float]:
    entries = vector if isinstance(vector, list | tuple) else vector.tolist() if isinstance(vector, np.ndarray) else ()
    if not isinstance(entries, list | tuple) or len(entries) != dimension:
        return [0.0] * dimension
    read = (
        answers.exactly(entry.real if isinstance(entry, complex | np.complexfloating) and not entry.imag else entry) or 0
        for entry in entries
    )
    return [float(min(max(x, -Fraction(_FURTHEST)), Fraction(_FURTHEST))) for x in read]


def _squares(rows: Floats) -> Floats:
    """Σ x² of each row, column after column: the order of addition does not depend on the row's position."""
    found = np.zeros(len(rows))
    for column in rows.T:
        found += column * column
    return found


@np.errstate(all="ignore")
def _lengths(rows: Floats) -> Floats:
    """Euclidean norms without overflow."""
    most = np.abs(rows).max(axis=1, initial=0.0)
    return np.asarray(most * np.sqrt(_squares(rows / np.where(most > 0, most, 1.0)[:, None])))


@np.errstate(all="ignore")
def vectors_on_grid(rows: Floats, norm: float) -> Floats:
    """Vectors as integers, in floats, scaled down to a length of at most _LEVELS.

    The result for a row depends on that row alone. Squares up to 2³² and their sums are exact in floats, so lengths are compared exactly.
    """
    most = np.maximum(np.abs(rows).max(axis=1, initial=0.0, keepdims=True), norm)
    near = rows / most  # within ±1; if an entry exceeds the norm, one is ±1 and so the length is at least 1
    scaled = near / np.maximum(np.sqrt(_squares(near))[:, None], 1.0) * _LEVELS
    found = np.rint(scaled)
    limit = float(_LEVELS) ** 2
    for attempt in (np.trunc(scaled), np.trunc(scaled * (1 - 2.0**-30))):
        long = _squares(found) > limit
        if long.any():
            found = np.where(long[:, None], attempt, found)
    return np.where((_squares(found) > limit)[:, None], 0.0, found)
