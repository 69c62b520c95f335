"""Sums and means within a unit are the exact ones, rounded once, also beyond what a float holds exactly."""

from __future__ import annotations

import random
from fractions import Fraction

import polars
import pytest

import discreet
from discreet.private import reveal
from discreet.query.relation.write import write_relation

UNITS, EACH = 40, 300


@pytest.mark.parametrize("bounds", [(0, 2**40), (-(2**50), 2**50), (-3, 5)], ids=str)
def test_sums_within_a_unit(bounds: tuple[int, int]) -> None:
    coin = random.Random(3)
    whole = [[coin.randint(*bounds) for _ in range(EACH)] for _ in range(UNITS)]
    data = polars.DataFrame({"who": [i for i in range(UNITS) for _ in range(EACH)], "x": [x for xs in whole for x in xs]})
    with discreet.connect({"t": data}, unit="who", epsilon=1, ledger=":memory:", bounds={"x": bounds}) as db:
        relation = db.table("t").per_unit(total="SUM(x)", middle="AVG(x)").relation
        found = reveal(db._engine.run(write_relation(relation, db._engine.dialect)))
    sums = dict(zip(found["__unit"].tolist(), zip(found["total"].tolist(), found["middle"].tolist(), strict=True), strict=True))
    for unit, xs in enumerate(whole):
        exact = float(Fraction(sum(xs)))
        assert sums[unit] == (exact, exact / EACH)
