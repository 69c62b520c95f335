"""The distance of synthetic rows from real ones. It reads real rows: for the data owner only, never part of a release."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from discreet.algorithms.marginals.domain import Domain
from discreet.errors import Invalid
from discreet.exact import whole


def marginal_error(domain: Domain, real: Mapping[str, Any], made: Mapping[str, Any], k: int) -> float:
    """The mean ℓ₁ distance of all k-way marginals, as distributions (0 to 2), of coded tables. The result is as private as the rows."""
    tables = [[np.asarray(table[name], np.int64) for name in domain.names] for table in (real, made)]
    if not all(len(table[0]) for table in tables):
        raise Invalid("a table is empty: give at least one real and one synthetic row")
    found = []
    for clique in combinations(domain.columns, min(whole(k, "k"), len(domain.names))):
        shares = []
        for table in tables:
            places = np.ravel_multi_index([table[i] for i in clique], domain.shape(clique))
            shares.append(np.bincount(places, minlength=domain.cells(clique)) / len(places))
        found.append(float(np.abs(shares[0] - shares[1]).sum()))
    return float(np.mean(found))


def k_marginal(domain: Domain, real: Mapping[str, Any], made: Mapping[str, Any], k: int = 2) -> float:
    """NIST's k-marginal score, from 0 to 1,000: 500·(2 − mean ℓ₁ distance). The result is as private as the rows.

    >>> domain = Domain.of({"a": 2, "b": 2})
    >>> k_marginal(domain, {"a": [0, 1], "b": [0, 1]}, {"a": [0, 0], "b": [0, 1]})
    500.0
    """
    return 500 * (2 - marginal_error(domain, real, made, k))
