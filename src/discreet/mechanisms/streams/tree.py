"""The tree mechanism: running totals of a stream, each a sum of few noisy nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams import continual, tree_nodes
from discreet.mechanisms.streams.continual import StreamRun, Totals, read_steps
from discreet.mechanisms.streams.tree_nodes import digits, l1_sensitivity, l2_sensitivity
from discreet.noise import lattice
from discreet.noise.bits import Bits, SystemBits
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.private import Private


@final
@frozen(kw_only=True, init=False)
class Tree(Mechanism[Totals]):
    """Release the running total after every step of a stream of integers, up to a horizon of T steps.

    Set epsilon for discrete Laplace noise (totals are integers), or rho, or epsilon and delta, for Gaussian noise. One unit contributes to
    at most `contributions` steps and changes each by at most `sensitivity`. `open()` begins a stream, which stores O(log T) numbers. The
    tree is binary, as published; `arity` sets another number of children, and None chooses the one with the least error, which for Laplace
    noise is half of the binary tree's.

    Theorem (Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011; other arities: Qardaji, Yang & Li 2013).
        After step t the sum of the last b^j steps is released with fresh noise, b^j being the largest power of the arity that divides t.
        The running total is the sum of the released nodes that t's digits to base b name. Noise for the ℓ₁ (ℓ₂) sensitivity of the vector
        of all nodes makes it ε-DP (Gaussian DP), for all steps together, also if the stream is chosen adaptively.

    Proof (sensitivity of the nodes).
        If a unit changes steps by aₛ, |aₛ| ≤ Δ, a node changes by |Σ aₛ over its steps| ≤ Δ·c, where c of its steps are the unit's; if all
        aₛ = Δ, this is attained. So ℓ₁ is Δ·Σ c, that is Δ times the numbers of nodes of those k steps that are in most nodes, and
        ℓ₂² is Δ²·max Σ c² over all ways to place k steps: `l1_sensitivity` and `l2_squared` in tree_nodes.py, with their lemmas.

    Accuracy.
        A running total errs by a sum of at most (b − 1)·(log_b T + 1) noises: for b = 2 a standard error of about (log₂ T)^1.5·√2/ε.
        `error` is the exact quantile of that sum for one running total at the worst step, or at step `after`; for `size` of them the union
        bound, each with its own number of nodes. With `window` it is of a window's sum, for which two totals share only their first nodes.

    Averaging each node with those below it (Honaker 2015) would reduce the error by a third, but its exact quantile is not known; with
    Gaussian noise, `Toeplitz` has a far smaller error.

    >>> tree = Tree(epsilon=1000, horizon=100)
    >>> run = tree.open(windows=(2,))
    >>> [run.add(value) for value in (5, 0, 7)], run.window(2)
    ([5, 5, 12], 7)
    >>> Tree(epsilon=1, horizon=2**20).error(size=2**20), tree.loss.epsilon_at(0)
    (667.0, 1000.0)
    >>> Tree(epsilon=1, horizon=2**20, arity=None).error(size=2**20)
    286.0
    """

    scale: Fraction = field(repr=lambda scale: f"{float(scale):.6g}")
    horizon: int
    sensitivity: Fraction = field(repr=str)
    contributions: int
    arity: int
    whole: bool  # with discrete Laplace noise; else Gaussian

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        horizon: int,
        sensitivity: Number = 1,
        contributions: int = 1,
        arity: int | None = 2,
    ) -> None:
        steps, change = continual.horizon(horizon), continual.step_sensitivity(sensitivity)
        k = min(continual.contributions(contributions), steps)
        whole = delta is None and rho is None
        base = tree_nodes.best_arity(steps, k, not whole) if arity is None else exact.whole(arity, "arity", least=2)
        if base > steps + 1:
            base = max(steps + 1, 2)  # for a larger arity all trees are the same: each step is a node
        if base > tree_nodes.MOST_PARTS:
            raise Invalid(f"arity must not be more than {tree_nodes.MOST_PARTS}: set arity=None for the best one")
        match epsilon, delta, rho:
            case (e, None, None) if e is not None:
                scale = change * l1_sensitivity(steps, k, base) / parameter.some_epsilon(e)
            case (e, d, None) if e is not None and d is not None:
                far = change * l2_sensitivity(steps, k, base)
                scale = calibrate.gaussian_scale(parameter.some_epsilon(e), parameter.some_delta(d), far)
            case (None, None, r) if r is not None:
                scale = calibrate.gaussian_scale_zcdp(exact.positive(r, "rho"), change * l2_sensitivity(steps, k, base))
            case _:
                raise Invalid("set epsilon, or epsilon and delta, or rho")
        self.__attrs_init__(scale=parameter.scale(scale), horizon=steps, sensitivity=change, contributions=k, arity=base, whole=whole)

    @property
    def levels(self) -> int:
        """The number of levels of nodes."""
        return len(digits(self.horizon, self.arity))

    @property
    def loss(self) -> Loss:
        if self.whole:
            return leaves.DiscreteLaplaceLoss(
                self.scale, self.sensitivity.numerator * l1_sensitivity(self.horizon, self.contributions, self.arity)
            )
        return leaves.GaussianLoss((self.sensitivity * l2_sensitivity(self.horizon, self.contributions, self.arity) / self.scale) ** 2)

    def error(self, confidence: Number = 0.95, size: int = 1, *, window: int | None = None, after: int | None = None) -> float:
        level, count = exact.confidence_level(confidence), min(exact.whole(size, "size"), self.horizon)
        if after is not None:
            nodes = [(sum(digits(continual.step_of(after, self.horizon), self.arity)), 1)]
        elif window is not None:
            nodes = [(tree_nodes.nodes_of_window(exact.whole(window, "window"), self.horizon, self.arity), count)]
        else:
            nodes = tree_nodes.largest(tree_nodes.node_counts(self.horizon, self.arity).items(), count)
        if self.whole:
            return float(tree_nodes.quantile_of_sums(self.scale, tuple(nodes), level))
        grid = float(self._grid) / 2 * nodes[0][0]  # each node is rounded
        return continual.simultaneous_bound([(math.sqrt(m) * float(self.scale), often) for m, often in nodes], level) + grid

    @property
    def _grid(self) -> Fraction:
        """Gaussian noise is rounded to this power of two: integers are multiples of it, so rounding the sum rounds the noise."""
        return min(lattice.step(self.scale), Fraction(1))

    def open(self, windows: Iterable[int] = ()) -> TreeRun:
        """Begin a stream; the whole loss is spent now."""
        return TreeRun(self, windows, SystemBits())

    def check(self, answer: Any) -> None:
        read_steps(answer)

    def sample(self, answer: Any, bits: Bits) -> Totals:
        return TreeRun(self, (), bits).add_many(Private(answer))


@final
class TreeRun(StreamRun):
    """A run: the exact sum, and for each level the sum and the released total at the end of its last node."""

    def __init__(self, mechanism: Tree, windows: Iterable[int], bits: Bits) -> None:
        super().__init__(mechanism.horizon, windows, bits)
        self.mechanism = mechanism
        self._fine = 0 if mechanism.whole else mechanism._grid.denominator.bit_length() - 1
        scale = mechanism.scale * 2**self._fine
        self._law = DiscreteLaplace(scale) if mechanism.whole else RoundedGaussian(scale)
        self._sum = 0
        # after t steps, entry j is about the last step whose j lowest digits are all 0; in steps of the grid
        self._ends = [(0, 0)] * mechanism.levels

    @property
    def numbers_kept(self) -> int:
        return 1 + 2 * len(self._ends)

    def _drawn(self, count: int) -> list[int]:
        if count > 1:
            found: list[int] = self._law.sample(count, self._bits).tolist()
            return found
        law = self._law  # one draw avoids the overhead of arrays
        return [law.draw(self._bits) if isinstance(law, DiscreteLaplace) else law.draw(0.0, Fraction, self._bits)]

    def _advance(self, values: list[int], measured: list[int] | None) -> Totals:
        noise = self._drawn(len(values)) if measured is None else []
        nodes, totals, arity, ends = [], [], self.mechanism.arity, self._ends
        for i, value in enumerate(values):
            self._sum += value << self._fine
            step, level = self.steps + i + 1, 0
            while step % arity == 0:
                step, level = step // arity, level + 1
            before, total = ends[level]  # at the start of the node that ends now
            node = self._sum - before + noise[i] if measured is None else measured[i]
            ends[: level + 1] = [(self._sum, total + node)] * (level + 1)
            nodes.append(node)
            totals.append(total + node)
        self.measured = nodes
        return totals if self.mechanism.whole else [math.ldexp(total, -self._fine) for total in totals]


def published_error(steps: int, epsilon: float, beta: float) -> float:
    """The error bound of Chan, Shi & Song 2011 for one running total: lemma 2.8 on a sum of at most log₂ T + 1 Laplace noises.

    √8·√ln(2/β)·max(√(Σ b²), b·√ln(2/β)), with b = (log₂ T + 1)/ε; for all T of them take β/T.

    >>> round(published_error(2**20, epsilon=1, beta=0.05))
    523
    """
    levels, far = steps.bit_length(), math.sqrt(math.log(2 / beta))
    return math.sqrt(8) * far * levels / epsilon * max(math.sqrt(levels), far)
