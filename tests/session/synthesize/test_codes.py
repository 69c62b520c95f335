"""Codes: what engines compute is what decoding undoes."""

from __future__ import annotations

import datetime
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.query.canonical import plain
from discreet.session.synthesize.codes import Binned, Listed, binned, dated
from discreet.session.synthesize.recording import coding_from
from discreet.tables.kind import Kind

FIRST, LAST = datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)
ALL = [
    Listed("dept", Kind.TEXT, ("er", "it's", 'a "ward"'), True),
    Listed("urgent", Kind.BOOLEAN, (False, True), False),
    Listed("only", Kind.TEXT, ("x",), False),
    binned("age", Kind.INTEGER, Fraction(0), Fraction(119), 32, True),
    binned("few", Kind.INTEGER, Fraction(-2), Fraction(5), 32, False),
    binned("cost", Kind.REAL, Fraction(0), Fraction(1, 3), 7, True),
    dated("day", FIRST, LAST, 64, True),
    dated("day", FIRST, FIRST + datetime.timedelta(days=9), 64, False),
    dated("day", FIRST.replace(year=1990), LAST, 64, False),
]


@pytest.mark.parametrize("coding", ALL, ids=str)
def test_codes_and_values(coding: Listed | Binned) -> None:
    codes = np.repeat(np.arange(coding.size), 5)
    values = coding.decode(codes)
    assert len(values) == len(codes)
    for code, value in zip(codes.tolist(), values, strict=True):
        assert code in coding.codes(value)
    assert len({coding.label(code) for code in range(coding.size)}) == coding.size
    assert coding_from(plain(coding)) == coding


def test_bins_of_whole_numbers_are_whole() -> None:
    wide = binned("n", Kind.INTEGER, Fraction(1), Fraction(1000), 32, False)
    assert wide.width.denominator == 1
    assert wide.low + wide.bins * wide.width >= 1001
    assert all(isinstance(value, int) and 1 <= value < wide.high for value in wide.decode(np.arange(wide.size)))
    assert binned("n", Kind.INTEGER, Fraction(0), Fraction(31), 32, False).whole_numbers


def test_ranges_are_whole_bins() -> None:
    age = binned("age", Kind.INTEGER, Fraction(0), Fraction(119), 12, True)
    assert age.codes((30, 39)) == [3]
    assert age.codes((25, 45)) == [2, 3, 4]
    assert age.codes(range(30, 40)) == [3]
    assert age.codes(None) == [12]
    assert age.codes((-5, 500)) == list(range(12))
    with pytest.raises(Invalid, match="lower end first"):
        age.codes((39, 30))
    with pytest.raises(Invalid, match="is a number"):
        age.codes("old")


def test_values_that_are_not_there() -> None:
    with pytest.raises(Invalid, match="its values are 'er'"):
        ALL[0].codes("attic")
    with pytest.raises(Invalid, match="no such value"):
        ALL[1].codes(None)


def test_too_many_years() -> None:
    with pytest.raises(Invalid, match="narrower bounds"):
        dated("day", FIRST.replace(year=1000), LAST, 64, False)
