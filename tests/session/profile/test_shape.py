"""What is drawn of a histogram: round bins that hold what the cells hold."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.session.profile.shape import BINS, shape_of
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind


def histogram(low: float, high: float, cells: int, whole: bool = False) -> Histogram:
    edges = [Fraction(low) + (Fraction(high) - Fraction(low)) * i / cells for i in range(cells + 1)]
    return Histogram(tuple(edges), tuple(float(10 + i) for i in range(cells)), 3.0, 4.0, 1.0, 2.0, 3.0, whole)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-7, 930), (1e-6, 2e-6), (-3e9, 5e11), (2007, 2010)])
@pytest.mark.parametrize("cells", [1, 5, 64])
def test_nothing_is_lost(low: float, high: float, cells: int) -> None:
    made = histogram(low, high, cells)
    shape = shape_of(made, Kind.REAL)
    assert math.isclose(sum(shape.counts), made.total, rel_tol=1e-9)
    assert 3 <= len(shape.counts) <= BINS + 4
    assert np.all(np.diff([edge for edge in shape.edges if math.isfinite(edge)]) > 0)
    assert len(shape.edges) == len(shape.counts) + 1 == len(shape.halves) + 1


def test_noise_is_carried_along() -> None:
    shape = shape_of(histogram(0, 10, 10), Kind.REAL, most=5)
    assert shape.edges[1:-1] == (0, 2, 4, 6, 8, 10)
    assert math.isclose(shape.halves[1], 1.96 * 2 * math.sqrt(2))  # two cells


def test_dates_are_dates() -> None:
    day = datetime.date(2024, 1, 1)
    shape = shape_of(histogram(day.toordinal(), day.toordinal() + 365, 60, whole=True), Kind.DATE)
    assert isinstance(shape.edges[1], datetime.date)
    assert (shape.edges[2] - shape.edges[1]).days == 30
