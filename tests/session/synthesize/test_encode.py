"""Values as codes in Python: the same as the engine's, for all kinds of codings and for what data frames call missing."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import discreet
from discreet.algorithms.marginals.domain import Domain
from discreet.errors import Invalid
from discreet.private import reveal
from discreet.session.synthesize.codes import Binned, Listed, binned, dated
from discreet.session.synthesize.counted import EngineCounts
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.edges import cut
from discreet.session.synthesize.encode import encode, is_missing
from discreet.session.synthesize.run import code_names, with_codes
from discreet.tables.kind import Kind

DAYS = [None, *(datetime.date(2024, 1, 1) + datetime.timedelta(days=37 * i) for i in range(30))]
TIMES = [None, *(datetime.datetime(2024, 1, 1, 5) + datetime.timedelta(hours=371 * i) for i in range(30))]
WHOLE = [None, *range(-10, 140)]
TEXTS = ["er", None, "it's", "attic", ""]
CASES: list[tuple[Coding, list[Any]]] = [
    (Listed("x", Kind.TEXT, ("er", "it's"), True), TEXTS),
    (Listed("x", Kind.TEXT, ("er", "it's"), False), TEXTS),
    (Listed("x", Kind.TEXT, ("er", None), False), TEXTS),
    (Listed("x", Kind.BOOLEAN, (False, True), True), [True, None, False]),
    (Listed("x", Kind.INTEGER, (1, 5, 9), True), WHOLE),
    (dated("x", datetime.date(2024, 1, 1), datetime.date(2024, 12, 31), 400, True), DAYS),
    (dated("x", datetime.date(2024, 1, 1), datetime.date(2026, 12, 31), 40, True), DAYS),
    (dated("x", datetime.date(2020, 1, 1), datetime.date(2026, 12, 31), 9, True), DAYS),
    (binned("x", Kind.INTEGER, Fraction(0), Fraction(119), 240, True), WHOLE),
    (binned("x", Kind.INTEGER, Fraction(0), Fraction(119), 32, False), WHOLE),
    (binned("x", Kind.REAL, Fraction(0), Fraction(119), 32, True), [None, *(i / 7 for i in range(-30, 900, 11))]),
    (cut("x", Kind.INTEGER, [0, 18, 65, 120], True), WHOLE),
    (cut("x", Kind.INTEGER, [0, 18, 65, 120], False), WHOLE),
    (cut("x", Kind.DATE, [datetime.date(2024, 1, 1), datetime.date(2024, 4, 1), datetime.date(2025, 1, 1)], True), DAYS),
    (cut("x", Kind.TIMESTAMP, [datetime.datetime(2024, 1, 1), TIMES[7], datetime.datetime(2025, 1, 1)], True), TIMES),
]


IDS = [f"{type(one).__name__} {one.kind.value} {i}" for i, (one, _) in enumerate(CASES)]


@pytest.mark.parametrize(("coding", "values"), CASES, ids=IDS)
def test_codes_are_those_of_the_engine(coding: Coding, values: list[Any]) -> None:
    """How many rows have each code by the engine, where every value occurs another number of times."""
    repeated = [value for i, value in enumerate(values) for _ in range(i + 1)]
    data = polars.DataFrame({"id": range(len(repeated)), "x": repeated})
    with discreet.connect({"t": data}, unit="id", one_row_per_unit=True, epsilon=1, ledger=":memory:") as db:
        relation = with_codes(db.table("t"), [coding])
        counts = EngineCounts(db._engine, relation, code_names(db.table("t").relation, 1), Domain.of({"x": coding.size}), 1, "add/remove")
        counted = reveal(counts.marginals([(0,)]))[(0,)]
    codes = encode(coding, repeated)
    assert np.bincount(codes[codes >= 0], minlength=coding.size).tolist() == counted.tolist()
    assert coding.leaves_out or codes.min() >= 0


def test_numbers_in_bins() -> None:
    """On an edge, below, above, beyond all numbers, and none."""
    coding = Binned("x", Kind.REAL, Fraction(0), Fraction(10), 4, True)
    values = [0.0, 2.5, 2.4999, 10.0, -3.0, 99.0, float("inf"), float("-inf"), float("nan"), None]
    assert encode(coding, values).tolist() == [0, 1, 0, 3, 0, 3, 3, 0, 4, 4]
    assert encode(Binned("x", Kind.REAL, Fraction(0), Fraction(10), 4, False), [None]).tolist() == [0]


def test_what_data_frames_call_missing_and_dates() -> None:
    assert all(map(is_missing, [None, float("nan"), np.float64("nan"), pandas.NaT, pandas.NA]))
    assert not any(map(is_missing, [0, "", False, "nan"]))
    days = pandas.Series(pandas.to_datetime(["2024-02-29", None, "2024-01-01"])).tolist()
    assert encode(dated("x", datetime.date(2024, 1, 1), datetime.date(2024, 12, 31), 400, True), days).tolist() == [59, 366, 0]
    whole_with_none = pandas.Series([1, None, 5]).tolist()  # floats, in pandas
    assert encode(Listed("x", Kind.INTEGER, (1, 5), True), whole_with_none).tolist() == [0, 2, 1]


@pytest.mark.parametrize("values", [["a secret"], [[1, 2]]])
def test_other_values_are_an_error_that_does_not_repeat_them(values: list[Any]) -> None:
    with pytest.raises(Invalid, match="age has values of another type") as caught:
        encode(Binned("age", Kind.REAL, Fraction(0), Fraction(10), 4, True), values)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
