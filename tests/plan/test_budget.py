"""The split of a budget between totals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog

from discreet.plan.bounding import Rows, Single
from discreet.plan.budget import declared_size, needed, split, totals_of
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person


def test_the_split_minimises_the_sum_of_squared_errors() -> None:
    weights = {"a": 1.0, "b": 8.0}
    shares = split(weights, 1 / 3)
    assert float(shares["a"]) == pytest.approx(1 / 3, abs=0.001)
    error = sum(k / float(shares[name]) ** 2 for name, k in weights.items())
    assert all(1 / a**2 + 8 / (1 - a) ** 2 >= error * 0.999 for a in (0.1, 0.2, 0.3, 0.36, 0.5, 0.8))


def test_no_share_is_too_small_and_they_add_up() -> None:
    shares = split({"a": 0.0, "b": 1.0, "c": 1e9}, 1 / 2)
    assert min(shares.values()) >= Fraction(1, 1000)
    assert sum(shares.values()) == 1


@pytest.mark.parametrize("many", [1, 2, 51, 54, 74, 95, 100, 600])
def test_shares_of_equal_totals_are_nearly_equal(many: int) -> None:
    """Rounding to the nearest thousandth once left the largest less than nothing."""
    shares = split(dict.fromkeys(range(many), 1.0), 1 / 3)
    assert sum(shares.values()) == 1
    assert max(shares.values()) <= Fraction(1, many) + Fraction(many, 10**6)
    assert min(shares.values()) > 0


def test_totals_that_statistics_share_are_needed_once() -> None:
    question = read("SELECT COUNT(*), AVG(x), AVG(x) AS again FROM t WHERE x IS NOT NULL", catalog(nullable=False))
    found = needed(question, totals_of(question, {}, True, Rows(3)))
    assert {total.form for total in found} == {"rows", "product"}
    assert len(found) == 2


@pytest.mark.parametrize(
    ("sql", "size"), [("AVG(x) FROM t", 40), ("AVG(x) FROM t WHERE x > 1", None), ("AVG(x) FROM t GROUP BY x > 0.5", None)]
)
def test_a_declared_size_is_public_for_whole_tables_alone(sql: str, size: int | None) -> None:
    columns = ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("x", Kind.REAL, bounds=(0, 1), nullable=False)
    table = Table("t", columns, Person("id"), one_row=True, size=40)
    question = read(f"SELECT {sql}", Catalog((table,), "replace-one"))
    assert declared_size(question) == size
    assert totals_of(question, {}, False, Single()).declared_size == size
