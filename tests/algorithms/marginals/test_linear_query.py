"""Linear queries: one form for each question, exact values, sensitivities, and slips."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.errors import Invalid

DOMAIN = Domain.of({"age": 5, "sex": 2, "dept": 3, "only": 1})
NONE = {name: np.zeros(0, np.int64) for name in DOMAIN.names}


def where(**conditions: Any) -> LinearQuery:
    return LinearQuery.where(DOMAIN, conditions)


def test_the_same_question_has_one_form() -> None:
    expected = where(age=[1, 2, 3])
    assert where(age=range(1, 4)) == expected == where(age={3, 2, 1}, sex=[0, 1], only=0)
    assert where(age=np.array([1, 2, 3])) == expected == where(age=(1, 1, 2, 3), dept=range(3))
    assert LinearQuery.of(DOMAIN, ["sex", "age"], np.outer([4, 4], [0, 1, 1, 1, 0]), 4) == expected
    assert hash(where(sex=1)) == hash(where(sex=[1]))
    assert LinearQuery.average(DOMAIN, "age", [0, 1, 1, 1, 0]) == expected


def test_the_order_of_columns_does_not_matter() -> None:
    assert where(sex=1, age=2) == where(age=2, sex=1)
    weights = np.arange(15).reshape(3, 5)
    assert LinearQuery.of(DOMAIN, ["dept", "age"], weights, 14) == LinearQuery.of(DOMAIN, ["age", "dept"], weights.T, 14)


def test_no_condition_counts_all_records() -> None:
    everything = LinearQuery.where(DOMAIN, {})
    assert everything == where(sex=[0, 1]) == where(only=0)
    assert (everything.clique, everything.weights, everything.top) == ((), (1,), 1)


def test_values_are_those_of_the_table() -> None:
    codes = np.array(list(itertools.product(range(5), range(2), range(3))))
    mean = LinearQuery.average(DOMAIN, "age", [Fraction(i, 4) for i in range(5)], {"sex": 1})
    assert mean.top == 4
    marginal = np.zeros(10, np.int64)
    np.add.at(marginal, codes[:, 0] * 2 + codes[:, 1], 1)
    assert mean.of_marginal(marginal) == int(codes[codes[:, 1] == 1, 0].sum())
    assert where(age=[0, 4], sex=0).of_marginal(marginal) == 6


def test_huge_counts_do_not_wrap_around() -> None:
    query = LinearQuery.of(DOMAIN, ["sex"], [2**20, 1], 2**20)
    assert query.of_marginal(np.array([2**61, 5])) == 2**81 + 5


def test_values_with_many_digits_are_rounded() -> None:
    query = LinearQuery.average(DOMAIN, "dept", [1 / 3, 2 / 3, 1])
    assert np.abs(query.array / query.top - [1 / 3, 2 / 3, 1]).max() <= 5e-7


@pytest.mark.parametrize("replace_one", [False, True])
def test_no_unit_moves_a_query_by_more_than_its_sensitivity(replace_one: bool) -> None:
    table = CodedTable(DOMAIN, NONE, replace_one)
    weights = np.array([[0, 3], [7, 1], [2, 2], [0, 0], [5, 6]])
    for query in (where(age=[0, 1]), LinearQuery.of(DOMAIN, ["age", "sex"], weights, 9), where(sex=1, dept=2)):
        flat = query.array.ravel()
        moves = [abs(int(a) - int(b)) for a in flat for b in flat] if replace_one else flat.tolist()
        assert max(moves) <= query.sensitivity(table) <= max(flat) <= query.top
    assert where(sex=1).sensitivity(table) == 1
    assert where(age=[0, 1, 2, 3]).sensitivity(table) == 1  # four cells: neither 2 nor ⌊√8⌋ when a record is replaced


def test_sensitivity_for_units_of_many_records() -> None:
    """Ten records in ten different cells: ℓ₁ 10, ℓ₂ √10; a query of three cells moves by 5 = ⌊√3·√10⌋ at most, and one of all by 10."""

    class Spread:
        domain, one, l1_sensitivity, one_sided_sensitivity, l2_sensitivity = DOMAIN, 1, 10, 10, Fraction(3163, 1000)

    assert where(age=[0, 1, 2]).sensitivity(Spread()) == 5  # type: ignore[arg-type]
    assert LinearQuery.of(DOMAIN, ["age"], [1, 1, 1, 1, 0]).sensitivity(Spread()) == 6  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[0, 1, 1], [3, 5, 2], [1, 0, 0]])
def test_sensitivity_where_units_of_many_records_are_replaced(weights: list[int]) -> None:
    """Every unit of up to three records in three cells, replaced by every other one."""
    query = LinearQuery(clique=(2,), shape=(3,), weights=tuple(weights), top=5)

    class Replaced:
        domain, one, l1_sensitivity, one_sided_sensitivity, l2_sensitivity = DOMAIN, 1, 6, 3, Fraction(14143, 10000) * 3

    units = [np.array(unit) for unit in itertools.product(range(4), repeat=3) if sum(unit) <= 3]
    moves = [abs(int(np.dot(weights, one - other))) for one in units for other in units]
    assert max(moves) == query.sensitivity(Replaced()) == 3 * max(weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: where(shoe=1), "no column 'shoe'"),
        (lambda: where(age=5), "0 to 4"),
        (lambda: where(age=[0, -1]), "whole number"),
        (lambda: where(age=[]), "is empty: name at least one code"),
        (lambda: where(age=range(0)), "is empty: name at least one code"),
        (lambda: where(age="old"), "whole number"),
        (lambda: where(age=1.5), "whole number"),
        (lambda: where(age=True), "whole number"),
        (lambda: LinearQuery.average(DOMAIN, "age", [0, 1]), "each of the 5 codes"),
        (lambda: LinearQuery.average(DOMAIN, "sex", [0, 2]), "between 0 and 1"),
        (lambda: LinearQuery.average(DOMAIN, "sex", [0, 0]), "0 for every record"),
        (lambda: LinearQuery.average(DOMAIN, "sex", [0, 1], {"sex": 0}), "0 for every record"),
        (lambda: LinearQuery.of(DOMAIN, ["sex", "sex"], np.ones((2, 2), int)), "once"),
        (lambda: LinearQuery.of(DOMAIN, ["sex"], [0.5, 1]), "whole numbers"),
        (lambda: LinearQuery.of(DOMAIN, ["sex"], [0, 1, 1]), "one axis per column"),
        (lambda: LinearQuery.of(DOMAIN, ["sex"], [0, 3], 2), "between 0 and top"),
        (lambda: LinearQuery.of(DOMAIN, ["sex"], [0, -1]), "between 0 and top"),
        (lambda: LinearQuery.where(Domain.of({"a": 2000, "b": 2000}), {"a": 1, "b": 1}), "fewer columns"),
    ],
)
def test_slips_are_told(make: Any, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        make()
