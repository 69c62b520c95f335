"""Totals that are shifted to fit 64 bits: the sensitivity covers what rounding adds."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from plan import samples

from discreet.plan.bounding import Groups, Rows, Single
from discreet.plan.scaling import Scaled, bounding_for
from discreet.query.grid import SUMMED
from discreet.query.relation.expr import Column
from discreet.query.totals import Totals

OF = Totals(samples.scan().schema, {}, SUMMED, False, False)


def test_small_totals_are_not_shifted() -> None:
    assert Scaled.of(OF.rows(), Rows(3), "add/remove", 5) == Scaled(0, 3 * 2**20, Fraction(3 * 2**20))
    assert Scaled.of(OF.distinct(Column("k")), Rows(3), "add/remove", 5).l1 == 3


@pytest.mark.parametrize("cells", [1, 3, 50])
def test_shifted_totals_differ_by_no_more_than_their_sensitivity(cells: int) -> None:
    total, bounding = OF.product((Column("x"), 2)), Rows(50)
    scaled = Scaled.of(total, bounding, "add/remove", cells)
    assert scaled.bits > 0
    draw = random.Random(cells)
    most = bounding.sensitivity.l1 * total.most
    for _ in range(200):
        cuts = sorted(draw.randrange(most + 1) for _ in range(cells - 1))
        moved = [b - a for a, b in zip([0, *cuts], [*cuts, most], strict=True)]
        before = [draw.randrange(2**60) for _ in range(cells)]
        changes = [abs((a + d >> scaled.bits) - (a >> scaled.bits)) for a, d in zip(before, moved, strict=True)]
        assert sum(changes) <= scaled.l1
        assert math.sqrt(sum(change**2 for change in changes)) <= float(scaled.l2) * (1 + 1e-12)


def test_units_are_bounded_by_groups() -> None:
    units = OF.units()
    assert bounding_for(units, Rows(4), keyed=False) == Groups(1, 1, one=1)
    assert bounding_for(units, Rows(4), keyed=True) == Groups(4, 1)
    assert bounding_for(units, Groups(3, 9, True), keyed=True) == Groups(3, 1, True)
    assert bounding_for(units, Single(), keyed=True) == Single()
    assert bounding_for(OF.rows(), Rows(4), keyed=True) == Rows(4)
