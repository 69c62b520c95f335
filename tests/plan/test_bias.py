"""The question that measures bias: units over their limits, units with clipped values."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog

from discreet.errors import Refused
from discreet.plan.bias import bias_question
from discreet.query.relation.expr import Column, field_of
from discreet.query.sql.read import read
from discreet.tables.table import Contributions


def test_it_counts_units_over_the_limit_and_with_clipped_values() -> None:
    found = bias_question(read("SELECT SUM(x) FROM t", catalog()), Contributions(rows=3))
    assert [name for name, _ in found.statistics] == ["units", "over_limit", "x_clipped"]
    assert found.relation.one_row


def test_rows_are_read_without_their_bounds() -> None:
    found = bias_question(read("SELECT SUM(x) FROM t", catalog(each=True)), Contributions())
    below = field_of(Column("x"), found.relation.input.schema).range  # type: ignore[union-attr]
    assert below is not None
    assert not below.known


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(Refused, match="declare bounds or contributions"):
        bias_question(read("SELECT COUNT(*) FROM t", catalog(each=True)), Contributions())


def test_bounds_that_were_found_count_as_declared_ones() -> None:
    open_bounds = read("SELECT SUM(x) FROM t", catalog(bounds=None, each=True))
    with pytest.raises(Refused, match="of=release"):
        bias_question(open_bounds, Contributions(), {"x": {"low": Fraction(0)}})
    found = bias_question(open_bounds, Contributions(), {"x": {"low": Fraction(0), "high": Fraction(40)}})
    assert [name for name, _ in found.statistics] == ["units", "x_clipped"]
    declared = bias_question(read("SELECT SUM(x) FROM t", catalog(bounds=(0, 40), each=True)), Contributions())
    assert found.relation.columns == declared.relation.columns  # type: ignore[union-attr]
    narrower = {"x": {"low": Fraction(10), "high": Fraction(20)}}
    assert bias_question(read("SELECT SUM(x) FROM t", catalog(bounds=(0, 40), each=True)), Contributions(), narrower) == declared
