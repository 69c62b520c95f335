"""The question that measures bias: units over their limits, units with clipped values."""

from __future__ import annotations

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
