"""Totals: one for each request, with the largest value a row adds."""

from __future__ import annotations

from plan import samples

from discreet.query.grid import SUMMED
from discreet.query.relation.expr import Column
from discreet.query.totals import Totals

X, K = Column("x"), Column("k")
OF = Totals(samples.scan().schema, {}, SUMMED, True, False)


def test_the_same_request_gives_the_same_total() -> None:
    assert OF.product((X, 1), (X, 1)) == OF.product((X, 2))
    assert OF.units() != OF.rows()
    assert Totals(OF.schema, {}, SUMMED, True, True).units() == OF.rows()


def test_what_a_row_adds_at_most() -> None:
    single, square = OF.product((X, 1)), OF.product((X, 2))
    assert single.signed
    assert not square.signed
    assert float(single.most * single.step) >= OF.half(X)
    assert square.most == square.factors[0].grid.most ** 2
    assert (OF.rows().most, OF.rows().step, OF.count(K).exprs) == (1, 1, (K,))
    assert OF.middle(X) == 5.0
    assert OF.plain(X).factors[0].grid.mid == 0
