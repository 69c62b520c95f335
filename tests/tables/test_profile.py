"""What a profile tells later questions: bounds, keys, limits; and its form as plain values."""

from __future__ import annotations

import datetime
import json
import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind
from discreet.tables.profile import ColumnProfile, TableProfile, ValueCount, best_limit


def whole_numbers(counts: list[float], missing: float = 0.0) -> Histogram:
    return Histogram(tuple(map(Fraction, range(5, 6 + len(counts)))), tuple(counts), 0.0, 0.0, missing, 2.0, 1.0, whole=True)


COLUMNS = (
    ColumnProfile("age", Kind.INTEGER, whole_numbers([50.0, 3.0, 40.0], missing=30.0), sd=2.0, zeros=1.5),
    ColumnProfile("town", Kind.TEXT, values=(ValueCount("York", 20.5), ValueCount("it's", 9.0)), sd=3.0, least=12.0),
    ColumnProfile("day", Kind.DATE, values=(ValueCount(datetime.date(2024, 2, 29), 3.0), ValueCount(None, 1.0)), sd=3.0),
    ColumnProfile("ok", Kind.BOOLEAN, values=(ValueCount(True, 4.0),)),
    ColumnProfile("cost", Kind.REAL, declared=(Fraction(1, 3), Fraction(5))),
    ColumnProfile("name", Kind.TEXT, values=()),
)
TABLE = TableProfile("t", COLUMNS, 100.0, 40.0, 2.0, 3, ((1, 20.0), (2, 10.0), (3, 8.0), (4, 12.0), (8, 1.0)), "digest", "paid")


def test_bounds_and_keys_are_those_that_were_found() -> None:
    age, town, day, ok, cost, name = COLUMNS
    assert (age.bounds, age.keys) == ((5, 7), (5, 7, None))  # 6 is not clear of noise
    assert (town.bounds, town.keys) == (None, ("York", "it's"))
    assert day.keys == (datetime.date(2024, 2, 29), None)
    assert ok.keys == (True,)
    assert (cost.learnt, cost.bounds, cost.keys) == (False, None, None)
    assert (name.learnt, name.keys) == (False, None)


def test_rows_beyond_a_limit_are_those_that_are_lost() -> None:
    assert TABLE.lost_rows(3) == (12.0 * 1 + 1.0 * 5, 2.0 * math.hypot(1, 5))
    assert TABLE.lost_rows(4) == (4.0, 2.0 * 4)
    assert TABLE.lost_rows(8) == (0.0, 0.0)
    one_row = TableProfile("t", (), 1.0, 1.0, 1.0, None, (), "", "")
    assert one_row.lost_rows() == (0.0, 0.0)
    assert one_row.most_rows_seen() is None


def test_units_far_beyond_what_was_seen_do_not_add_noise() -> None:
    sizes = tuple((size, 100.0 if size <= 2 else 1.0) for size in (1, 2, 3, 4, 64, 1024))
    found = TableProfile("t", (), 1.0, 1.0, 20.0, 2, sizes, "", "")
    assert found.most_rows_seen() == 3
    assert found.lost_rows() == (1.0, 20.0)
    assert found.most_rows_seen(limit=4) == 64


def test_a_limit_is_high_only_where_many_rows_would_be_lost() -> None:
    assert best_limit(((1, 1000.0), (2, 1.0), (3, 0.0)), sd=1.0, noise=5.0) == 1
    assert best_limit(((1, 1000.0), (2, 1.0), (3, 900.0)), sd=1.0, noise=5.0) == 3
    assert best_limit(((1, 0.0), (1024, 1.5)), sd=1.0, noise=5.0) == 1  # noise alone


def test_json_is_read_back() -> None:
    assert TableProfile.from_json(json.loads(json.dumps(TABLE.to_json())), "digest", "paid") == TABLE


@pytest.mark.parametrize(
    "change", [{"rows": math.nan}, {"table": 5}, {"columns": None}, {"columns": [{}]}, {"rows_per_unit": [[1]]}, {"sd": "x"}, {"limit": []}]
)
def test_other_json_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, LookupError)):
        TableProfile.from_json(TABLE.to_json() | change, "", "")
