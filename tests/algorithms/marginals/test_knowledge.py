"""What is known of a table: unbiased estimates and their variances, precisions that add up, and purchases that suffice."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from algorithms.marginals.known import COLUMNS, DOMAIN, known, learn, subsets

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.knowledge import BITS, Knowledge
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.residual import Residual
from discreet.mechanisms.gaussian import Gaussian
from discreet.private import reveal

QUERY = LinearQuery.where(DOMAIN, {"a": 1, "b": [0, 2]})


def test_an_estimate_from_exact_residuals_is_the_count() -> None:
    direct = known(subsets((0, 1))).direct(QUERY)
    assert direct.value == pytest.approx(QUERY.of_marginal(reveal(CodedTable(DOMAIN, COLUMNS).marginals([(0, 1)]))[0, 1]))
    assert 0 < direct.variance < inf
    assert direct.half_width(3) == pytest.approx(3 * direct.variance**0.5 + direct.rounding)


def test_an_unknown_part_makes_the_variance_infinite() -> None:
    knowledge = known([(), (0,), (1,)])
    assert knowledge.direct(QUERY).variance == inf
    assert knowledge.marginal((0, 1)) is None
    assert known([]).total == 1
    assert known([()]).total == 600


def test_precisions_add_up() -> None:
    knowledge = known(subsets((0, 1)))
    before = knowledge.direct(QUERY)
    for part in subsets((0, 1)):
        learn(knowledge, part, Gaussian(scale=64, sensitivity=1, whole=True))
    after = knowledge.direct(QUERY)
    assert after.variance == pytest.approx(before.variance / 2)
    assert after.value == pytest.approx(before.value)
    assert knowledge.purchases == 8


def test_a_marginal_is_put_together_from_its_parts() -> None:
    found = known(subsets((1, 2))).marginal((1, 2))
    assert found is not None
    np.testing.assert_allclose(found[0], reveal(CodedTable(DOMAIN, COLUMNS).marginals([(1, 2)]))[1, 2], atol=1e-6)


@pytest.mark.parametrize("start", [[], [(), (0,)]])
def test_a_purchase_is_enough_and_not_much_more(start: list[Clique]) -> None:
    knowledge = known(start)
    plan = knowledge.plan(QUERY, 20.0, 3.0)
    assert plan.clique == (0, 1)
    assert plan.loss.rho == sum((mechanism.loss.rho or 0) for _, mechanism in plan.steps)
    for part, mechanism in plan.steps:
        learn(knowledge, part, mechanism)
    assert 18.5 < knowledge.direct(QUERY).half_width(3.0) <= 20
    assert not knowledge.plan(QUERY, 20.0, 3.0).steps


def test_noise_covers_what_a_replaced_record_changes() -> None:
    """For one more record the ℓ₂ length of its column of contrasts, for one replaced at most twice that; a total changes by one."""
    added, replaced = (Knowledge(CodedTable(DOMAIN, COLUMNS, replace_one=replace), 100) for replace in (False, True))
    for knowledge, times in ((added, 1), (replaced, 2)):
        for clique in subsets((0, 1, 2)):
            residual = Residual(DOMAIN, clique, BITS)
            stated, codes = knowledge._sensitivity(clique), np.eye(DOMAIN.cells(clique), dtype=np.int64)
            if not clique:
                assert stated == 1
                continue
            shifts = [residual.of(one) for one in codes] if times == 1 else [residual.of(a - b) for a in codes for b in codes]
            longest = max(int((shift**2).sum()) for shift in shifts)
            assert longest <= stated**2
            assert stated**2 <= Fraction(11, 10) * longest * (2 if times == 2 else 1)
