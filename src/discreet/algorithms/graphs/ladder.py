"""The ladder distribution: integer noise whose steps are as wide as the local sensitivity around the data requires."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import final

from attrs import field, frozen

from discreet import exact
from discreet.exact import Ball, ball
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniform


@final
@frozen
class Piece:
    """Steps of width level + slope·t + bend·t(t − 1)/2, for t from `start` to the next piece."""

    start: int
    level: int
    slope: int
    bend: int = 0

    def width(self, t: int) -> int:
        """The width of step t."""
        return self.level + self.slope * t + self.bend * comb(t, 2)

    def total(self, first: int, stop: int) -> int:
        """The sum of the widths of steps first … stop − 1."""
        return sum(factor * (comb(stop, i) - comb(first, i)) for i, factor in ((1, self.level), (2, self.slope), (3, self.bend)))

    def weight(self, t: int, rate: Fraction) -> Ball:
        """Σ over s ≥ t of e^(−rate·(s + 1))·width(s), as if the piece had no end."""
        q = (-ball(rate)).exp()
        rest = 1 - q
        rise = self.slope + self.bend * t  # width(t + j) = width(t) + rise·j + bend·j(j − 1)/2
        return (-ball(rate * (t + 1))).exp() * (self.width(t) / rest + rise * q / rest**2 + self.bend * q**2 / rest**3)


@final
@frozen
class LadderDistribution:
    """A distribution on the integers around 0: rung k ≥ 1 has the next I(k − 1) numbers on either side, each with weight e^(−rate·k).

    Theorem (Zhang, Cormode, Procopiuc, Srivastava & Xiao 2015).
        Let f be integer-valued, |f(x) − f(y)| ≤ I₀(y) and Iₜ(x) ≤ Iₜ₊₁(y) for all neighbours x, y and all t. Then f(x) plus this noise for
        I(x) is ε-DP with rate = ε/2, and of bounded range ε.

    Proof.
        Let k be the rung of a number z for x: |z − f(x)| ≤ I₀(x) + … + Iₖ₋₁(x). Then |z − f(y)| ≤ I₀(y) + I₁(y) + … + Iₖ(y), so z is at
        most on rung k + 1 for y. The release is the exponential mechanism with minus the rung as the score, which changes by at most 1.

    Accuracy.
        P[|noise| > I₀ + … + Iₖ₋₁] = P[the rung is above k], which `beyond` gives; `quantile` inverts it.

    >>> steps = LadderDistribution((Piece(0, 3, 1),), Fraction(1, 2))        # I = 3, 4, 5, …
    >>> steps.span(2), steps.quantile(Fraction(19, 20))
    (7, 51)
    """

    pieces: tuple[Piece, ...] = field(repr=False)
    rate: Fraction = field(repr=str)

    def _ends(self) -> list[int | None]:
        return [*(piece.start for piece in self.pieces[1:]), None]

    def weights(self) -> list[Ball]:
        """For each piece the one-sided weight of its rungs and all later ones; a final 0 marks the end."""
        sums: list[Ball] = [ball(0)]
        for piece, end in zip(reversed(self.pieces), reversed(self._ends()), strict=True):
            own = piece.weight(piece.start, self.rate)
            sums.append(sums[-1] + (own if end is None else own - piece.weight(end, self.rate)))
        return sums[::-1]

    def beyond(self, k: int, weights: list[Ball] | None = None) -> Ball:
        """P[the rung is above k], as a ball at the working precision."""
        known = weights or self.weights()
        place = max(i for i, piece in enumerate(self.pieces) if piece.start <= k)
        piece, end = self.pieces[place], self._ends()[place]
        above = piece.weight(k, self.rate) - (ball(0) if end is None else piece.weight(end, self.rate)) + known[place + 1]
        return 2 * above / (1 + 2 * known[0])

    def span(self, k: int) -> int:
        """I₀ + … + Iₖ₋₁: the width of the first k rungs on one side."""
        ends = [k if end is None else min(k, end) for end in self._ends()]
        return sum(piece.total(piece.start, end) for piece, end in zip(self.pieces, ends, strict=True) if end > piece.start)

    def width(self, t: int) -> int:
        """Iₜ."""
        return [piece for piece in self.pieces if piece.start <= t][-1].width(t)

    def quantile(self, confidence: Fraction) -> int:
        """The least t with P[|noise| ≤ t] ≥ confidence."""
        with exact.precision(192):
            weights, miss = self.weights(), ball(1 - confidence)
            k = exact.least_whole(lambda k: bool(self.beyond(k, weights) <= miss))
            if k == 0:
                return 0
            # every number of the last rung has probability `each`: leave out as many of the furthest as `miss` allows
            each = (-ball(self.rate * k)).exp() / (1 + 2 * weights[0])
            spare = exact.lower((miss - self.beyond(k, weights)) / (2 * each))
            return self.span(k) - min(max(math.floor(spare), 0), self.width(k - 1))

    def sample(self, bits: Bits) -> int:
        """Draw the noise: the rung by inverting one uniform, refined as far as needed, then a uniform number on that rung."""
        word, known = bits.word(), 64
        while (rung := self._rung(word, known)) is None:
            word, known = word << 64 | bits.word(), known + 64
        if rung == 0:
            return 0
        away = 1 + self.span(rung - 1) + uniform(self.width(rung - 1), bits)
        return away if bits.word() & 1 else -away

    def _rung(self, word: int, known: int) -> int | None:
        """The least k with U ≥ P[the rung is above k]; None if the known bits of U do not decide it."""
        with exact.precision(known + 128):
            weights, doubt = self.weights(), False

            def is_within(k: int) -> bool:
                nonlocal doubt
                gap = self.beyond(k, weights) * 2**known - word  # U < p if and only if (the remaining bits of U, in [0, 1)) < gap
                doubt = doubt or not (gap >= 1 or gap <= 0)
                return not gap >= 1

            found = exact.least_whole(is_within)
            return None if doubt else found


@lru_cache(maxsize=256)
def steepest(epsilon: Fraction, least: int) -> Fraction:
    """A rate for steps Iₜ = J + t, where J ≥ least differs by at most 1 between neighbours: above ε/2, and nearly ε if `least` is large.

    Theorem (ours; after Zhang et al. 2015).
        Let Z(J) = 1 + 2Jq/(1 − q) + 2q²/(1 − q)² with q = e^(−rate), the sum of all weights of these steps. The release is ε-DP if rate +
        ln(Z(least + 1)/Z(least)) ≤ ε.

    Proof. A number's rung changes by at most 1, as for any `LadderDistribution`, and Z by at most one step of J; Z grows linearly in J, so
        its ratio is largest at the least J. (That ratio is at most e^rate, which gives ε/2.)
    """

    def fits(rate: Fraction) -> bool:
        with exact.precision(128):
            q = (-ball(rate)).exp()
            slope = 2 * q / (1 - q)
            rest = 1 + slope * least + 2 * (q / (1 - q)) ** 2
            return bool(ball(rate) + (1 + slope / rest).log() <= ball(epsilon))

    low, high = epsilon / 2, epsilon  # ε/2 always fits, by the theorem of LadderDistribution
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
