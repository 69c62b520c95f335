"""Domains: sizes, cliques by name, and what is refused."""

from __future__ import annotations

import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.errors import Invalid

DOMAIN = Domain.of({"age": 10, "sex": 2, "dept": 5})


def test_sizes_and_cells() -> None:
    assert DOMAIN.size == 100
    assert DOMAIN.shape((0, 2)) == (10, 5)
    assert DOMAIN.cells((0, 2)) == 50
    assert DOMAIN.cells(()) == 1
    assert list(DOMAIN.columns) == [0, 1, 2]


def test_a_clique_is_ascending_whatever_the_order_of_names() -> None:
    assert DOMAIN.clique(["dept", "age"]) == DOMAIN.clique(["age", "dept", "age"]) == (0, 2)
    assert DOMAIN.clique([]) == ()


def test_shown() -> None:
    assert DOMAIN.shown((0, 1)) == "age × sex"
    assert DOMAIN.shown(()) == "(all)"


def test_huge_domains_do_not_overflow() -> None:
    assert Domain.of({f"c{i}": 1000 for i in range(40)}).size == 10**120


def test_refused() -> None:
    with pytest.raises(Invalid, match="at least one column"):
        Domain.of({})
    for size in (0, -1, 2.5, "many"):
        with pytest.raises(Invalid, match="the size of age"):
            Domain.of({"age": size})  # type: ignore[dict-item]
    with pytest.raises(Invalid, match="there is no column 'salary': use one of age, sex, dept"):
        DOMAIN.clique(["salary"])
