"""Running totals of a stream by matrix factorisation: a third of the tree's error, with as little memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from operator import mul
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams import continual
from discreet.mechanisms.streams.continual import StreamRun, Totals, read_steps
from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor
from discreet.noise import lattice
from discreet.noise.bits import Bits, SystemBits
from discreet.noise.gaussian import RoundedGaussian
from discreet.private import Private

_FRACTION = 128  # fractional bits of the private buffers
_FINER = 8  # powers of two by which the grid is finer than the default: a running total adds up many roundings


@final
@frozen(kw_only=True, init=False)
class Toeplitz(Mechanism[list[float]]):
    """Release the running total after every step of a stream of integers, up to a horizon of T steps, with Gaussian noise.

    Set epsilon and delta, or rho. One unit contributes to at most `contributions` steps and changes each by at most `sensitivity`. `open()`
    begins a stream, which stores O(log T) numbers: for a million steps, 10 private and 10 public ones. `exchanged` is for replace-one
    adjacency where no unit adds a negative number: `sensitivity` and `contributions` are then those of one of the two units.

    Theorem (Li, Miklau, Hay, McGregor & Rastogi 2015; Fichtenberger, Henzinger & Upadhyay 2023; in memory of O(log T): Dvijotham, McMahan,
    Pillutla, Steinke & Thakurta 2024).
        Let A = B·C for the lower triangular matrix A of ones. Measure y = Cx + N(0, σ²I), rounded to a grid, and release B·y. It is μ-GDP
        with μ = ‖C(x − x′)‖₂/σ, whatever B is, also if x is chosen adaptively (Denisov, McMahan, Rush, Smith & Thakurta 2022). If k steps
        change by at most Δ, ‖C(x − x′)‖₂ is at most Δ times the length of the sum of C's first k columns (proof in
        `ToeplitzFactor.sensitivity`). If a unit that adds v ≥ 0 is exchanged for one that adds w ≥ 0, it is at most √2 times that: C has no
        negative entry, so neither have Cv and Cw, and ‖Cv − Cw‖² ≤ ‖Cv‖² + ‖Cw‖².

    Proof (the arithmetic).
        (Cx)ₜ = Σ ωᵢsᵢ with sᵢ ← θᵢsᵢ + xₜ is kept in whole multiples of 2⁻¹²⁸, each product rounded down: sᵢ is too small by eᵢ ← θᵢeᵢ + r
        with 0 ≤ r < 2⁻¹²⁸, so 0 ≤ eᵢ < T·2⁻¹²⁸ in both of two streams. As Σ ωᵢ = 1, their measurements differ by less than T·2⁻¹²⁸ more or
        less than those of Cx, over all steps by √T·T·2⁻¹²⁸ in length, which is added to the sensitivity. The sum is a rational number that
        the rounding to the grid uses exactly. What comes after is a function of the measurements, so floats suffice at no privacy cost.

    Accuracy.
        The running total after t steps errs by a normal of deviation σ·‖row t of B‖, unbiased. For one contribution both lengths are about
        √(ln T/π + 1.07), so the standard error is (ln T/π + 1.07)/√(2ρ), within 1 % of the exact root's. `error` is its quantile at the
        last, worst step, or at step `after`; for `size` running totals the union bound, steps in octaves. With `window` it is of a window's
        sum. Grid roundings are added; the rounding of floats is not.

    >>> noise = Toeplitz(rho=0.5, horizon=2**20)
    >>> round(noise.deviation, 2), round(noise.error(size=2**20), 1), round(noise.error(window=7), 1)
    (5.48, 29.6, 7.2)
    >>> run = Toeplitz(rho=10**8, horizon=365, contributions=5).open(windows=(2,))
    >>> [round(run.add(value)) for value in (5, 0, 7)], round(run.window(2))
    ([5, 5, 12], 7)
    """

    scale: Fraction = field(repr=lambda scale: f"{float(scale):.6g}")
    horizon: int
    sensitivity: Fraction = field(repr=str)
    contributions: int
    exchanged: bool

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        horizon: int,
        sensitivity: Number = 1,
        contributions: int = 1,
        exchanged: bool = False,
    ) -> None:
        steps, change = continual.horizon(horizon), continual.step_sensitivity(sensitivity)
        k = min(continual.contributions(contributions), steps)
        far = measurement_sensitivity(steps, change, k, exchanged)
        match epsilon, delta, rho:
            case (e, d, None) if e is not None and d is not None:
                scale = calibrate.gaussian_scale(parameter.some_epsilon(e), parameter.some_delta(d), far)
            case (None, None, r) if r is not None:
                scale = calibrate.gaussian_scale_zcdp(exact.positive(r, "rho"), far)
            case _:
                raise Invalid("set epsilon and delta, or rho; for pure privacy use Tree")
        self.__attrs_init__(scale=parameter.scale(scale), horizon=steps, sensitivity=change, contributions=k, exchanged=bool(exchanged))

    @property
    def factor(self) -> ToeplitzFactor:
        """The matrix C: about the square root of A, or a lower power where a unit contributes to many steps."""
        return ToeplitzFactor.best(self.horizon, self.contributions)

    @property
    def loss(self) -> Loss:
        return leaves.GaussianLoss(
            (measurement_sensitivity(self.horizon, self.sensitivity, self.contributions, self.exchanged) / self.scale) ** 2
        )

    @property
    def deviation(self) -> float:
        """The standard error of the last running total, the largest."""
        return float(self.scale) * self.factor.row(self.horizon)

    def error(self, confidence: Number = 0.95, size: int = 1, *, window: int | None = None, after: int | None = None) -> float:
        level, count = exact.confidence_level(confidence), min(exact.whole(size, "size"), self.horizon)
        sigma, grid = float(self.scale), math.ldexp(0.5, self.grid) * self.factor.row_sum
        if after is not None:  # all steps of an octave use the bound of its last, so that few rows are evaluated
            last = min(1 << (continual.step_of(after, self.horizon) - 1).bit_length(), self.horizon)
            return continual.simultaneous_bound([(sigma * self.factor.row(last), 1)], level) + grid
        if window is not None:
            spread = sigma * self.factor.row_of_window(exact.whole(window, "window"))
            return continual.simultaneous_bound([(spread, count)], level) + 2 * grid
        spreads, last = [], self.horizon
        while count:  # the last steps are the worst; all steps of an octave use the bound of its last
            here = min(count, last - last // 2)
            spreads.append((sigma * self.factor.row(last), here))
            count, last = count - here, last // 2
        return continual.simultaneous_bound(spreads, level) + grid

    @property
    def grid(self) -> int:
        """Measurements are multiples of 2 to this power."""
        return lattice.step_exponent(self.scale) - _FINER

    def open(self, windows: Iterable[int] = ()) -> ToeplitzRun:
        """Begin a stream; the whole loss is spent now."""
        return ToeplitzRun(self, windows, SystemBits())

    def check(self, answer: Any) -> None:
        read_steps(answer)

    def sample(self, answer: Any, bits: Bits) -> list[float]:
        return [float(total) for total in ToeplitzRun(self, (), bits).add_many(Private(answer))]


def measurement_sensitivity(steps: int, sensitivity: Fraction, contributions: int, exchanged: bool = False) -> Fraction:
    """The ℓ₂ sensitivity of the measurements, with what the rounding of buffers may add."""
    far = sensitivity * ToeplitzFactor.best(steps, contributions).sensitivity(contributions)
    return (far * _root_of_two() if exchanged else far) + Fraction(steps * (math.isqrt(steps) + 1), 2**_FRACTION)


@cache
def _root_of_two() -> Fraction:
    """√2, rounded up."""
    return exact.rational_up(lambda: exact.ball(2).sqrt())


@final
class ToeplitzRun(StreamRun):
    """A run: a private buffer for each rate, and as many public ones that invert C."""

    def __init__(self, mechanism: Toeplitz, windows: Iterable[int], bits: Bits) -> None:
        super().__init__(mechanism.horizon, windows, bits)
        self.mechanism = mechanism
        factor, self._grid = mechanism.factor, mechanism.grid
        self._first, *self._weights = factor.weights  # the first rate is 0: its buffer is the step itself
        self._rates = factor.rates[1:]
        self._private = [0] * len(self._rates)
        self._law = RoundedGaussian(mechanism.scale / Fraction(2) ** self._grid)
        self._decay = [math.ldexp(rate, -UNIT) for rate in self._rates]
        self._pull = [math.ldexp(weight * rate, -2 * UNIT) for weight, rate in zip(self._weights, self._rates, strict=True)]
        self._public = [0.0] * len(self._rates)
        self._total = 0.0

    @property
    def numbers_kept(self) -> int:
        return 2 * len(self._rates) + 1

    def _advance(self, values: list[int], measured: list[int] | None) -> Totals:
        exactly = self._through(values)
        self.measured = self._noised(exactly) if measured is None else measured
        return self._undone(self.measured)

    def _through(self, values: list[int]) -> list[int]:
        """C times the stream, in units of 2^−(_FRACTION + UNIT)."""
        rates, weights, first, kept, out = self._rates, self._weights, self._first, self._private, []
        for value in values:
            step = value << _FRACTION
            kept = [(rate * one >> UNIT) + step for rate, one in zip(rates, kept, strict=True)]
            out.append(sum(map(mul, weights, kept), first * step))
        self._private = kept
        return out

    def _noised(self, exactly: list[int]) -> list[int]:
        """Add noise to each, rounded to the grid."""
        shift = _FRACTION + UNIT + self._grid
        if shift < UNIT:  # a grid finer than the buffers' resolution: scale up so that the offset keeps its bits
            exactly, shift = [one << UNIT - shift for one in exactly], UNIT
        rest = (1 << shift) - 1

        def offset(i: int) -> Fraction:
            return Fraction(exactly[i] & rest, 1 << shift)

        if len(exactly) == 1:
            noise = [self._law.draw(math.ldexp((exactly[0] & rest) >> shift - 60, -60), lambda: offset(0), self._bits)]
        else:
            near = np.array([math.ldexp((one & rest) >> shift - 60, -60) for one in exactly], np.float64)
            noise = self._law.around(near, offset, self._bits).tolist()
        return [(one >> shift) + more for one, more in zip(exactly, noise, strict=True)]

    def _undone(self, measured: list[int]) -> list[float]:
        """Solve C·w = y step by step, and return the running sums of w."""
        decay, pull, kept, total, grid, out = self._decay, self._pull, self._public, self._total, self._grid, []
        for one in measured:
            step = math.ldexp(one, grid) - sum(map(mul, pull, kept))
            kept = [rate * before + step for rate, before in zip(decay, kept, strict=True)]
            total += step
            out.append(total)
        self._public, self._total = kept, total
        return out
