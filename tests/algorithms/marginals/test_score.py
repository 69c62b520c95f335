"""Scores of synthetic rows against real ones."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.score import k_marginal, marginal_error
from discreet.errors import Invalid

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
REAL = {"a": [0, 0, 1, 1], "b": [0, 1, 2, 2], "c": [0, 1, 0, 1]}


def test_the_same_rows_in_any_order_and_number_score_full_marks() -> None:
    doubled = {name: [*reversed(codes), *codes] for name, codes in REAL.items()}
    for k in (1, 2, 3):
        assert marginal_error(DOMAIN, REAL, doubled, k) == 0
        assert k_marginal(DOMAIN, REAL, doubled, k) == 1000


def test_rows_without_anything_in_common_score_nothing() -> None:
    assert marginal_error(DOMAIN, {"a": [0], "b": [0], "c": [0]}, {"a": [1], "b": [2], "c": [1]}, 1) == 2
    assert k_marginal(DOMAIN, {"a": [0], "b": [0], "c": [0]}, {"a": [1], "b": [2], "c": [1]}, 1) == 0


def test_the_mean_over_all_marginals_by_hand() -> None:
    made = REAL | {"c": [1, 1, 1, 1]}
    assert marginal_error(DOMAIN, REAL, made, 1) == pytest.approx(1 / 3)  # of three columns only c is off, by 1
    assert marginal_error(DOMAIN, REAL, made, 2) == pytest.approx(2 / 3)  # of three pairs two hold c, each off by 1
    assert marginal_error(DOMAIN, REAL, made, 9) == marginal_error(DOMAIN, REAL, made, 3)  # no more columns than there are


def test_wrong_tables() -> None:
    with pytest.raises(Invalid, match="at least one"):
        k_marginal(DOMAIN, REAL, {name: np.empty(0, np.int64) for name in DOMAIN.names})
    with pytest.raises(Invalid, match="k"):
        k_marginal(DOMAIN, REAL, REAL, 0)
