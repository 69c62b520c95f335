"""Knowledge of a small table without noise: residuals learnt as if a mechanism had released them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.knowledge import BITS, Knowledge
from discreet.algorithms.marginals.residual import Residual
from discreet.mechanisms.gaussian import Gaussian
from discreet.private import reveal

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 4})
COLUMNS = {name: np.random.default_rng(5).integers(0, size, 600) for name, size in zip(DOMAIN.names, DOMAIN.sizes, strict=True)}


def known(parts: list[Clique], scale: int = 64) -> Knowledge:
    """Residuals learnt without noise, as if released with this scale."""
    knowledge = Knowledge(CodedTable(DOMAIN, COLUMNS), 100)
    for part in parts:
        learn(knowledge, part, Gaussian(scale=scale, sensitivity=1, whole=True))
    return knowledge


def learn(knowledge: Knowledge, part: Clique, mechanism: Gaussian) -> None:
    counts = reveal(CodedTable(DOMAIN, COLUMNS).marginals([part]))[part]
    knowledge.learn(part, np.asarray(Residual(DOMAIN, part, BITS).of(counts), np.float64), mechanism)


def subsets(clique: Clique) -> list[Clique]:
    return [part for k in range(len(clique) + 1) for part in combinations(clique, k)]
