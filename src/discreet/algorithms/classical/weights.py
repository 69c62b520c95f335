"""Multiplicative weights over a finite domain."""

from __future__ import annotations

import math
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def _centred(logs: Any) -> Floats:
    array = np.asarray(logs, np.float64)
    return np.asarray(array - array.max())


@final
@frozen(eq=False)
class Weights:
    """A distribution over a domain, held as log-weights and updated by queries.

    An update multiplies the weight of v by e^(±rate·q(v)), for a query with values in [0, 1].

    Theorem (multiplicative weights; Littlestone & Warmuth 1994; Freund & Schapire 1997; the constant by Hoeffding's lemma).
        Let Ψ = KL(x‖p), where x is any distribution. If p′ comes from p by an update of rate η in direction s = ±1, then Ψ(p) − Ψ(p′) ≥
        ηs·(q(x) − q(p)) − η²/8. From the uniform p, where Ψ ≤ ln N, at most ln N/(ηγ − η²/8) updates can go in the right direction with a
        gap |q(x) − q(p)| ≥ γ; with η = 4γ that is ln N/(2γ²), and with the textbook's η = γ/2 below 4 ln N/γ².

    Proof.
        Ψ(p) − Ψ(p′) = ηs·q(x) − ln Σ p(v)e^(ηs·q(v)), and by Hoeffding's lemma the logarithm is at most ηs·q(p) + η²/8. Ψ ≥ 0 always.

    Accuracy.
        Weights are floats, whose errors are far below any noise. They are public: nothing private depends on their rounding.

    >>> p = Weights.uniform(4).update([1, 1, 0, 0], +1, math.log(3))
    >>> p.distribution.round(3).tolist(), most_updates(4, gap=0.1)
    ([0.375, 0.375, 0.125, 0.125], 69)
    """

    logs: Floats = field(converter=_centred, repr=False)

    @classmethod
    def uniform(cls, domain: int) -> Weights:
        """The uniform distribution."""
        return cls(np.zeros(exact.whole(domain, "domain")))

    @property
    def distribution(self) -> Floats:
        """The weights, normalised to sum to 1."""
        weights = np.exp(self.logs)
        return np.asarray(weights / weights.sum())

    def update(self, values: Any, direction: Literal[1, -1], rate: float) -> Weights:
        """Update towards the values (+1) or away from them (−1)."""
        if direction not in (1, -1) or not rate >= 0:
            raise Invalid("direction must be 1 or -1, and rate a number of at least 0")
        return Weights(self.logs + direction * rate * np.asarray(values, np.float64))

    def mean(self, values: Any) -> float:
        """The average of the values under the distribution."""
        return float(np.asarray(values, np.float64) @ self.distribution)

    def divergence(self, target: Any) -> float:
        """KL(target‖p), the potential of the theorem."""
        goal = np.asarray(target, np.float64)
        some = goal > 0
        logs = self.logs - math.log(np.exp(self.logs).sum())
        return float((goal[some] * (np.log(goal[some]) - logs[some])).sum())


def most_updates(domain: int, gap: float, rate: float | None = None) -> int:
    """The largest possible number of updates with this gap; the default rate is the best one, 4·gap."""
    step = 4 * gap if rate is None else rate
    drop = step * gap - step**2 / 8
    if not drop > 0:
        raise Invalid("rate must lie strictly between 0 and 8 times the gap; leave it out for the best rate")
    return math.floor(math.log(exact.whole(domain, "domain")) / drop)
