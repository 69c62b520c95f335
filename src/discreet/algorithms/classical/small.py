"""Small databases: a few rows that answer many queries nearly as well as all the data does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.errors import Invalid
from discreet.exact import Number, ball
from discreet.loss.loss import Loss

Integers = NDArray[np.int64]
BLOCK = 1 << 14  # multisets at a time
_EDGE = 2**62
_MOST_ROWS = 10**9  # the limit of the search for the best number of rows


def _frozen_counts(entries: Any) -> Integers:
    out = np.array(entries, np.int64)
    out.setflags(write=False)
    return out


@final
@frozen(kw_only=True, eq=False)
class SmallDatabase:
    """A released small database: how often each value occurs in its rows, and how many records it represents.

    Everything here is public. `steps` are the losses of the releases it was made from; they add up to its price.

    >>> small = SmallDatabase(histogram=[1, 0, 3], records=1000)
    >>> small.rows, small.answers(Queries.thresholds(3)).tolist()
    (4, [250.0, 250.0, 1000.0])
    """

    histogram: Integers = field(converter=_frozen_counts)
    records: int
    steps: tuple[Loss, ...] = field(default=(), repr=False)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.histogram.sum())

    def answers(self, queries: Queries) -> NDArray[np.float64]:
        """Each query's count among the records it represents."""
        return np.asarray(queries.answers(self.histogram) * (self.records / (self.rows * queries.top)), np.float64)


@final
@frozen
class Multisets:
    """All multisets of this many rows over a domain, in a fixed order, generated in blocks.

    Theorem (combinatorial numbers).
        v₁ ≤ … ≤ v_m becomes c_j = v_j + j − 1, strictly increasing; its index is Σ C(c_j, j), a bijection with 0 … C(N+m−1, m) − 1. The
        largest c_j with C(c_j, j) ≤ the rest of the index, from j = m down, inverts it.

    >>> Multisets(3, 2).size, Multisets(3, 2).at([0, 1, 2, 5]).tolist()
    (6, [[0, 0], [0, 1], [1, 1], [2, 2]])
    """

    domain: int = field(converter=arguments.domain)
    rows: int = field(converter=arguments.rows)
    _tables: Integers = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.size >= _EDGE or self.rows * (self.domain + self.rows) > 10**7:
            raise Invalid("there are too many small databases to index: use fewer rows or a smaller domain")
        tops = range(self.domain + self.rows - 1)
        tables = np.array([[min(math.comb(c, j), _EDGE) for c in tops] for j in range(1, self.rows + 1)], np.int64)
        object.__setattr__(self, "_tables", tables)

    @property
    def size(self) -> int:
        """The number of multisets, C(N+m−1, m)."""
        return small_databases(self.domain, self.rows)

    def at(self, places: Any) -> Integers:
        """The rows of the multisets with these indices, ascending."""
        rest = np.array(places, np.int64)
        out = np.empty((len(rest), self.rows), np.int64)
        for j in range(self.rows, 0, -1):
            table = self._tables[j - 1]
            top = np.searchsorted(table, rest, side="right") - 1
            rest -= table[top]
            out[:, j - 1] = top - (j - 1)
        return out

    def blocks(self, size: int = BLOCK) -> Iterator[Integers]:
        """All of them in order, `size` at a time."""
        for start in range(0, self.size, size):
            yield self.at(np.arange(start, min(start + size, self.size)))


# ── how large, how accurate ──────────────────────────────────────────────────────────────────────────────────────────


def good_size(queries: int, accuracy: Number) -> int:
    """The number of rows that suffice for some small database to answer all |Q| queries within a share α of the data's answers.

    Theorem (Hoeffding's inequality and a union bound).
        m ≥ ln(2|Q|)/(2α²) rows are enough, whatever the data, their number and their domain.

    Proof.
        Draw m rows from the data with replacement. P[some query's error is more than α′] ≤ 2|Q|·e^(−2mα′²) < 1 for each α′ > α, so some
        small database is within every such α′; there are finitely many, so one is within α.

    >>> good_size(1000, 0.1), good_size(10**6, 0.1)
    (381, 726)
    """
    count, alpha = exact.whole(queries, "queries"), _accuracy(accuracy)
    return max(1, math.ceil(exact.rational_up(lambda: ball(2 * count).log() / (2 * ball(alpha) ** 2))))


def good_size_vc(dimension: int, accuracy: Number) -> int:
    """The same for yes/no queries of VC dimension d, for any number of them.

    Theorem (Vapnik & Chervonenkis 1971; Sauer 1972).
        P[some query's error is more than α] ≤ 4·(2em/d)^d·e^(−mα²/8) for m ≥ max(d, 2/α²) rows drawn from the data. So the first m at which
        this is below 1 is enough.

    For small |Q| `good_size` is less; thresholds, of dimension 1, need only 1/(2α) rows: the quantiles.

    >>> good_size_vc(1, 0.1)
    9818
    """
    d, alpha = exact.whole(dimension, "dimension"), float(_accuracy(accuracy))

    def surely(m: int) -> bool:  # with a small margin for float rounding
        return math.log(4) + d * (1 + math.log(2 * m / d)) - m * alpha**2 / 8 < -1e-9 * m

    low = high = max(d, math.ceil(8 * d / alpha**2))  # the bound decreases from m = 8d/α² on
    while not surely(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if surely(middle) else (middle, high)
    return high


class Promise(NamedTuple):
    """A bound on every query's error as a share of the records, and the number of rows that achieves it."""

    share: float
    rows: int


def blr_accuracy(queries: int, domain: int, n: int, epsilon: Number, beta: Number) -> Promise:
    """The least bound for BLR, over the number m of rows: with probability 1 − β every answer's error is at most this share.

    Theorem (Blum, Ligett & Roth 2008; Dwork & Roth 2014, proposition 4.4, with the constants of the proof).
        For each m: √(ln(2|Q|)/(2m)) + (2/(εn))·(ln C(N+m−1, m) + ln(1/β)).

    Proof.
        The best of the small databases is within the first term (`good_size`). The exponential mechanism with weights e^(−ε·n·share/2)
        gives one that is worse by t with probability at most #multisets·e^(−εnt/2), which is β for the second term.

    `BLR` scores in whole counts, which adds at most 1/n. The search covers m up to 10⁹; any m gives a valid bound. Over a small domain the
    best m may be above n: there are so few multisets that the best database need not be small.

    >>> blr_accuracy(1000, 2**16, 10**6, 1, 0.05)
    Promise(share=0.0602..., rows=2869)
    """
    count, size = exact.whole(queries, "queries"), exact.whole(domain, "domain")
    price = 2 / (float(parameter.some_epsilon(epsilon)) * exact.whole(n, "n"))
    miss = -math.log(exact.confidence_level(beta, "beta"))

    def share(m: int) -> float:
        return math.sqrt(math.log(2 * count) / (2 * m)) + price * (log_small_databases(size, m) + miss)

    tried = sorted({*range(1, 65), *(round(64 * 1.02**k) for k in range(836))})
    best = min((m for m in tried if m <= _MOST_ROWS), key=share)
    low, high = best - best // 32, best + best // 32
    while high - low > 64:  # near the best grid point the sum is unimodal
        step = (high - low) // 3
        low, high = (low, high - step) if share(low + step) <= share(high - step) else (low + step, high)
    rows = min([*range(max(1, low), high + 1), best], key=share)
    return Promise(share(rows), rows)


def blr_textbook(queries: int, domain: int, n: int, epsilon: Number, beta: Number) -> float:
    """The closed form of Dwork & Roth 2014, theorem 4.5, as a share of the records: ((16 ln|D| ln|Q| + 4 ln(1/β))/(εn))^⅓.

    Proof.
        Take α/2 for the size: m = ⌈ln(2|Q|)/(2(α/2)²)⌉ ≤ 4 ln|Q|/α² for |Q| ≥ 4 and α ≤ 1, and |D|^m databases at most. The bound α/2 +
        (2/(εn))·(4 ln|D| ln|Q|/α² + ln(1/β)) is at most α as soon as α³ ≥ (16 ln|D| ln|Q| + 4α² ln(1/β))/(εn), and α² ≤ 1.

    It is vacuous where it is above 1, and does not apply to fewer than 4 queries.

    >>> round(blr_textbook(1000, 100, 10**6, 1, 0.05), 4)
    0.0805
    """
    size, count = exact.whole(domain, "domain"), exact.whole(queries, "queries")
    miss = -math.log(exact.confidence_level(beta, "beta"))
    total = float(parameter.some_epsilon(epsilon)) * exact.whole(n, "n")
    return float(((16 * math.log(size) * math.log(count) + 4 * miss) / total) ** (1 / 3))


def log_small_databases(domain: int, rows: int) -> float:
    """ln C(N+m−1, m)."""
    return math.lgamma(domain + rows) - math.lgamma(domain) - math.lgamma(rows + 1)


def _accuracy(value: Number) -> Any:
    return exact.confidence_level(value, "accuracy")
