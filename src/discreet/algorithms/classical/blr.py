"""BLR: choose a small database that answers all queries nearly as the data does, by the exponential mechanism."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import whole_matrix
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.small import Integers, Multisets, SmallDatabase
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import exponential_error, selection_rate
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.noise import choice
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniform

Sampler = Literal["enumerate", "candidates"]
MOST_ENUMERATED = 10**9  # small databases; this takes minutes
MOST_RECORDS = 2**40
_MOST_WEIGHT = 2**20  # rows times top: with MOST_RECORDS, all scores fit 64 bits
_CELLS = 2**20  # answers in memory at a time


def _share(value: Number) -> Fraction:
    return exact.confidence_level(value, "size_share")


def _adjacency(value: Adjacency) -> Adjacency:
    is_replacement(value)
    return value


@frozen(kw_only=True, eq=False)
class SmallRelease(Mechanism[SmallDatabase], ABC):
    """What the two forms of BLR share: the data as a histogram, the budget, and the number of records.

    Under add/remove the number n of records is private, and n̂ is released by discrete Laplace noise from `size_share` of ε; the rest
    chooses the small database. Under replace-one n is public, and all of ε is used for the choice.

    `delta` is accepted as for the other algorithms. It has no use here, and the loss has none: an ε-DP choice is (ε, δ)-DP.
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(default=Fraction(0), converter=parameter.any_delta, repr=str)
    rows: int = field(converter=arguments.rows)
    adjacency: Adjacency = field(default="add/remove", converter=_adjacency)
    size_share: Fraction = field(default=Fraction(1, 10), converter=_share, repr=str)

    @property
    @abstractmethod
    def domain(self) -> int:
        """The number of values a record may have."""

    @abstractmethod
    def choose(self, counts: Integers, bits: Bits) -> Integers:
        """The histogram of the chosen small database."""

    @property
    def rate(self) -> Fraction:
        """A small database whose error is larger by one count is e^(−rate) times as likely; half of the ε of the choice."""
        return selection_rate(self._choosing, Fraction(1), monotone=False)

    @property
    def _choosing(self) -> Fraction:
        return self.epsilon if is_replacement(self.adjacency) else self.epsilon * (1 - self.size_share)

    @property
    def _size(self) -> Laplace | None:
        return None if is_replacement(self.adjacency) else Laplace(epsilon=self.epsilon * self.size_share, whole=True)

    @property
    def steps(self) -> tuple[Loss, ...]:
        """The loss of each step."""
        choosing = leaves.BoundedRange(self._choosing)
        return (choosing,) if self._size is None else (self._size.loss, choosing)

    @property
    def loss(self) -> Loss:
        return sum(self.steps[1:], self.steps[0])

    def _error(self, confidence: Number, candidates: int) -> float:
        """The excess error of the choice over the best of the candidates, in counts: selection, rounding, and n̂."""
        beta = 1 - exact.confidence_level(confidence)
        part = beta if self._size is None else beta / 2
        noise = 0.0 if self._size is None else self._size.error(1 - part)
        return exponential_error(self.rate, 1 - part, candidates) + 1 + noise

    def check(self, answer: Any) -> None:
        answers.check_whole(answer, "the histogram")
        counts = self._read(answer)
        if counts.tolist() != np.asarray(answer).tolist():
            raise Invalid("the counts of a histogram must be non-negative and sum to at most 2^40")

    def _read(self, answer: Any) -> Integers:
        counts, single = answers.wholes(answer, "the histogram")
        if single or len(counts) != self.domain:
            raise Invalid(f"the data must be a histogram with one count for each of the domain's {self.domain} values")
        return np.clip(counts, 0, MOST_RECORDS // self.domain)

    def sample(self, answer: Any, bits: Bits) -> SmallDatabase:
        counts = self._read(answer)
        records = int(counts.sum())
        if self._size is not None:
            records = max(0, int(self._size.sample(records, bits)))
        return SmallDatabase(histogram=self.choose(counts, bits), records=records, steps=self.steps)


def _histograms(entries: Any) -> Integers | None:
    if entries is None:
        return None
    return whole_matrix(entries, "candidates must be a matrix of whole numbers, with the histogram of one small database in each row")


@final
@frozen(kw_only=True, eq=False)
class BLR(SmallRelease):
    """Release a database of m rows whose answers, scaled to n records, are near the data's: a smaller largest error is likelier.

    `sampler="enumerate"` goes through all C(N+m−1, m) multisets, twice, in blocks; `"candidates"` chooses from a public matrix of
    histograms, which must not depend on the data (an earlier private release may be used; its loss is charged there). Both sample from the
    exact distribution. Markov chains are not offered: after finitely many steps their distribution differs, and the privacy proof is about
    the exact one. The running time depends on the data only through which levels of error occur.

    Theorem (Blum, Ligett & Roth 2008; whole scores: the proof below).
        Let y have the level ⌈L(y)/m⌉, L(y) = max_q |m·q(x) − n·q(y)|. Choosing y with probability ∝ e^(−ε·level/2) is ε-DP, with range at
        most ε, both under replace-one and under add/remove. With n̂ under add/remove: ε in all.

    Proof.
        Adding a record v changes m·q(x) − n·q(y) by m·q(v) − q(y), between −m and m as 0 ≤ q ≤ 1; replacing v by v′ changes it by m·(q(v′)
        − q(v)). So L/m changes by at most 1, and a ≤ b + 1 gives ⌈a⌉ ≤ ⌈b⌉ + 1: levels change by at most 1. (n itself need not be known: it
        stands on both sides.) The rest is the exponential mechanism.

    Proof of the draw. One pass counts the multisets of each level; a level is drawn ∝ count·e^(−ε·level/2), by exact selection with whole
        weights; then one of that level, uniformly, is found in a second pass. Its probability is ∝ e^(−ε·level/2).

    Accuracy.
        `error(confidence, size=n)`: with this confidence every count has an error of at most n·√(ln(2|Q|)/(2m)) (the best small database) +
        1 (rounding) + (2/ε)·ln(#multisets/β) or less (the choice) + |n̂ − n|. With candidates: at most this in excess of the best
        candidate, without the first term.

    >>> blr = BLR(epsilon=50, queries=Queries.thresholds(4), rows=4, adjacency="replace-one")
    >>> small = blr.release([250, 0, 500, 250])
    >>> small.histogram.tolist(), small.answers(Queries.points(4)).tolist()
    ([1, 0, 2, 1], [250.0, 0.0, 500.0, 250.0])
    """

    queries: Queries
    sampler: Sampler = "enumerate"
    candidates: Integers | None = field(default=None, converter=_histograms, repr=False)

    def __attrs_post_init__(self) -> None:
        _ = self.rate
        if self.rows * self.queries.top > _MOST_WEIGHT:
            raise Invalid("rows times the queries' top must be at most 2^20: use fewer rows or a smaller top")
        if self.sampler not in ("enumerate", "candidates"):
            raise Invalid('sampler must be "enumerate" or "candidates"; Markov chains are not offered, because they sample inexactly')
        if (self.sampler == "candidates") != (self.candidates is not None):
            raise Invalid('sampler="candidates" needs candidates=, a public matrix of histograms; the other sampler takes none')
        if self.candidates is not None:
            rows = self.candidates.sum(axis=1)
            if self.candidates.shape[1] != self.domain or self.candidates.min() < 0 or (rows != self.rows).any():
                raise Invalid(f"each candidate must be a histogram of {self.rows} rows over the domain's {self.domain} values")
        elif self.size > MOST_ENUMERATED:
            raise Invalid(
                f"{self.size:,} small databases are too many to enumerate: use fewer rows, pass candidates, or use BLRThresholds for "
                "thresholds"
            )

    @property
    def domain(self) -> int:
        return self.queries.domain

    @property
    def size(self) -> int:
        """The number of small databases to choose from."""
        return len(self.candidates) if self.candidates is not None else math.comb(self.domain + self.rows - 1, self.rows)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        best = math.sqrt(math.log(2 * self.queries.size) / (2 * self.rows)) if self.candidates is None else 0.0
        return exact.whole(size, "size") * best + self._error(confidence, self.size)

    # ── levels ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _level(self, counts: Integers, small: Integers) -> Integers:
        """⌈L/m⌉ for each row of answers of small databases; `top` cancels."""
        gap = np.abs(self.rows * self.queries.answers(counts) - counts.sum() * small).max(axis=1)
        return np.asarray(-(-gap // (self.rows * self.queries.top)), np.int64)

    def _blocks(self, counts: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Blocks of multisets, as rows, with their levels."""
        values = np.ascontiguousarray(self.queries.matrix.T)
        for rows in Multisets(self.domain, self.rows).blocks(max(1, _CELLS // self.queries.size)):
            small = values[rows[:, 0]]
            for j in range(1, self.rows):
                small += values[rows[:, j]]
            yield rows, self._level(counts, small)

    def levels(self, histogram: Any) -> dict[int, int]:
        """The number of small databases of each level. It reveals the data: use it on public or mock data only."""
        found: Counter[int] = Counter()
        for level in self._all_levels(self._read(histogram)):
            found.update(dict(zip(*(part.tolist() for part in np.unique(level, return_counts=True)), strict=True)))
        return dict(sorted(found.items()))

    def _all_levels(self, counts: Integers) -> Iterator[Integers]:
        if self.candidates is None:
            yield from (level for _, level in self._blocks(counts))
            return
        step = max(1, _CELLS // self.queries.size)
        for start in range(0, len(self.candidates), step):
            yield self._level(counts, self.candidates[start : start + step] @ self.queries.matrix.T)

    def choose(self, counts: Integers, bits: Bits) -> Integers:
        if self.candidates is not None:
            scores = -np.concatenate(list(self._all_levels(counts)))
            return np.array(self.candidates[choice.best(scores, self.rate, "gumbel", bits)[0]], np.int64)
        found = self.levels(counts)
        levels, sizes = np.array(list(found), np.int64), np.array(list(found.values()), np.int64)
        level = int(levels[choice.best(-levels, self.rate, "gumbel", bits, weights=sizes)[0]])
        return self.find(counts, level, uniform(found[level], bits))

    def find(self, histogram: Any, level: int, place: int) -> Integers:
        """The small database with this index, from 0, among those of a level. It reveals the data, as `levels` does."""
        for rows, level_of in self._blocks(self._read(histogram)):
            there = np.flatnonzero(level_of == level)
            if place < len(there):  # stopping here reveals the released database only
                return np.bincount(rows[there[place]], minlength=self.domain)
            place -= len(there)
        raise Invalid("there are fewer small databases of this level: use a smaller place")
