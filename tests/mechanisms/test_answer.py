"""Reading answers: every kind of number a person may hold, totally; what is no number at all is an error without data."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms.shake import Shake

from discreet.errors import Error, Invalid
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.private import Private

WIDE = [-(2**63), 2**63 - 1, 2**64, -(10**400), 10**400]
ODD = [0.0, -0.0, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan]
TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64, np.bool_]


@pytest.mark.parametrize("value", WIDE)
def test_whole_numbers_beyond_the_edge_move_to_it(value: int) -> None:
    array, single = answers.wholes([value, 1])
    assert not single
    assert array.dtype == np.int64
    assert array.tolist() == [2**62 if value > 0 else -(2**62), 1]


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=4), st.integers(-1, 1))
def test_reading_whole_numbers_never_moves_them_apart(values: list[int], move: int) -> None:
    """Neighbours that differ by at most 1 in each entry still do, read as whole numbers and as reals."""
    for read in (answers.wholes, answers.reals):
        a, _ = read(list(map(int, values)))
        b, _ = read([v + move for v in values])
        assert (np.abs(a - b) <= 1).all()


@pytest.mark.parametrize("value", ODD)
def test_scores_are_total(value: float) -> None:
    read = answers.scores([value, 1.5])
    assert np.isfinite(read).all()
    assert math.isfinite(value) or abs(read[0]) == np.finfo(np.float64).max


@pytest.mark.parametrize("kind", TYPES)
def test_arrays_of_every_type_are_read(kind: Any) -> None:
    for read in (answers.wholes, answers.reals):
        array, single = read(np.array([1, 0], kind))
        assert array.tolist() == [1, 0]
        assert not single


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_arrays_of_small_unsigned_types_are_read(kind: Any) -> None:
    array, _ = answers.wholes(np.array([1, 0], kind))
    assert array.tolist() == [1, 0]


@pytest.mark.parametrize("value", [Fraction(1, 4), Decimal("0.25"), np.float32(0.25), [Fraction(1, 4)], [Decimal("0.25"), 1]])
def test_exact_numbers_are_read(value: Any) -> None:
    array, _ = answers.reals(value)
    assert array[0] == 0.25


@pytest.mark.parametrize(
    "wrong", ["31337", ["31337"], {"a": 31337}, object(), [[31337]], [], 1j, [1j], b"31337", {31337}, np.timedelta64(31337, "s")]
)
def test_what_is_no_vector_of_numbers_is_invalid_and_does_not_tell(wrong: Any) -> None:
    """Plain: an error. Private: an error if it can be no vector at all; an entry that is no number counts as missing."""
    with pytest.raises(Invalid) as failure:
        Laplace(epsilon=1).release(wrong)
    assert "31337" not in str(failure.value)
    if isinstance(wrong, list) and wrong:
        assert len(Laplace(epsilon=1).release(Private(wrong))) == 1
    else:
        with pytest.raises(Invalid) as failure:
            Laplace(epsilon=1).release(Private(wrong))
        assert "31337" not in str(failure.value)


@pytest.mark.parametrize("wrong", [[[1], [1, 2]], [[1, 2], 3]])
def test_ragged_lists_are_invalid(wrong: Any) -> None:
    with pytest.raises(Error):
        Laplace(epsilon=1).release(wrong)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, [1.0, -math.inf], [2**70, 1], None])
def test_a_slip_in_a_plain_answer_is_reported(wrong: Any) -> None:
    with pytest.raises(Invalid):
        Laplace(epsilon=1).release(wrong)


def test_a_plain_answer_beyond_the_grid_is_reported() -> None:
    """A real answer further than 2⁶¹ steps from 0 would silently become that edge: 3.5·10¹³ for 10¹⁵ at ε = 1."""
    try:
        out = Laplace(epsilon=1).release(1e15)
    except Error:
        return
    assert abs(out - 1e15) < 1e6


KINDS = [
    Laplace(epsilon=1),
    Gaussian(rho=1),
    Exponential(epsilon=1),
    NoisyMax(epsilon=1),
    TopK(epsilon=1, k=2),
    NoisyMax(epsilon=1, noise="laplace"),
]


@pytest.mark.parametrize("mechanism", KINDS, ids=str)
@pytest.mark.parametrize("value", [*ODD, *WIDE, True, np.float32(1e30), None])
def test_private_answers_never_fail_by_value(mechanism: Any, value: Any) -> None:
    """The class of the output is that of the neighbour with an ordinary value of the same kind."""
    usual = 1 if isinstance(value, int) else 1.0
    out = mechanism.sample([value, usual, usual], Shake(0, limit=1 << 16))
    assert type(out) is type(mechanism.sample([usual] * 3, Shake(0)))
    released = mechanism.release(Private([value, usual, usual]))
    assert np.shape(released) == np.shape(mechanism.release(Private([usual] * 3)))


def test_huge_whole_numbers_among_reals() -> None:
    """10⁴⁰⁰ beside 0.5 is a value like any other."""
    assert len(Laplace(epsilon=1).release(Private([10**400, 0.5]))) == 2


@pytest.mark.parametrize("far", [2**63, 2**64 - 1])
def test_one_far_entry_does_not_change_the_type_of_the_rest(far: int) -> None:
    """Whole numbers stay whole whatever their size and sign: np.asarray([2⁶³, 1]) is an array of floats."""
    assert answers.looks_whole([far, 1])
    assert Laplace(epsilon=1, whole=True).release(Private([far, 1])).dtype == np.int64  # type: ignore[union-attr]


def test_whole_numbers_are_not_rounded_to_floats() -> None:
    """With a sensitivity that is not whole, neighbours 1 apart are drawn around centres at most 1 apart.

    As floats, 2⁶⁰ + 127 and 2⁶⁰ + 129 are 256 apart. At scale 2¹⁶ (ε = 1.5/2¹⁶) the edge of the grid is 2⁶¹, so the noise does not
    hide it: the true ε is 128/1.5 times the one claimed.
    """
    mechanism = Laplace.of_scale(2**16, sensitivity="3/2")
    a, b = (int(mechanism.sample(2**60 + move, Shake(7))) for move in (127, 128))
    c = int(mechanism.sample(2**60 + 129, Shake(7)))
    assert max(abs(b - a), abs(c - b)) <= 2  # the same coins: the release moves as the centre does, up to one step of 1


def test_private_values_stay_closed() -> None:
    secret = Private([31337])
    for look in (bool, len, iter, int, float, str.format, list, np.asarray, hash, pickle.dumps, format, sorted, sum, complex):
        with pytest.raises((Error, TypeError)) as failure:
            look(secret)  # type: ignore[operator]
        assert "31337" not in str(failure.value)
    for operation in ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"):
        for text in (f"s {operation} 1", f"1 {operation} s"):
            with pytest.raises(Error):
                eval(text, {"s": secret})
    assert "31337" not in f"{secret!r}{secret!s}"


@pytest.mark.parametrize("make", [lambda whole: Laplace(epsilon=1, whole=whole), lambda whole: Gaussian(rho=1, whole=whole)])
def test_the_type_of_a_private_answer_does_not_show(make: Any) -> None:
    """3, 3.0, None and a fraction: the kind of a release is public, real unless it was said to be whole."""
    for whole, kind in ((None, float), (False, float), (True, int)):
        assert {type(make(whole).release(Private(x))) for x in (3, 3.0, None, math.nan, Fraction(7, 2), 10**400)} == {kind}
        vectors = [make(whole).release(Private([x])) for x in (3, 3.0, None, math.nan, Fraction(7, 2), 10**400)]
        assert {v.dtype for v in vectors} == {np.dtype(np.int64 if kind is int else np.float64)}


def test_long_doubles_are_not_rounded() -> None:
    """2⁵³ + 1, 2, 3 as long doubles: as floats they would be 2 apart."""
    read = [answers.reals(np.longdouble(2**53) + i)[0][0] for i in (1, 2, 3)]
    assert np.diff(read).tolist() == [1, 1]
    assert np.diff(answers.reals(np.longdouble(2**53) + np.arange(3))[0]).tolist() == [1, 1]


@pytest.mark.parametrize("strange", [Decimal("sNaN"), Decimal("nan"), "text", None, object(), math.nan, [1], 1j])
def test_one_record_does_not_change_how_others_are_read(strange: Any) -> None:
    lower, upper = Fraction(0), Fraction(2) ** 100
    alone, together = answers.floats([2**80, 5], lower, upper), answers.floats([2**80, 5, strange], lower, upper)
    assert together.tolist() == [*alone.tolist(), 0.0]
    assert answers.sizes([7, 2.5, strange]).tolist() == [7, 2, 0]


def test_a_missing_score_is_the_lowest_in_every_company() -> None:
    for scores in ([math.nan, -1e30, -(10**31)], [None, -5, -7000], [math.nan, -1e300]):
        assert Exponential(epsilon=1).release(Private(scores)) == 1


@pytest.mark.parametrize(
    ("entry", "counts"),
    [(Decimal("1E+999999999"), 10**400), (Decimal("-1E+999999999"), -(10**400)), (Decimal("1E-999999999"), 0), (10**5000, 10**400)],
    ids=["huge", "low", "tiny", "whole"],
)
def test_numbers_that_do_not_fit_memory_are_read_at_once(entry: Any, counts: int) -> None:
    assert answers.exactly(entry) == counts
    assert answers.exactly(np.timedelta64(5, "D")) is None


def test_single_numbers_are_read_alike_whatever_their_type() -> None:
    for mechanism in (Laplace(epsilon=1, whole=True), Gaussian(scale=1, whole=True)):
        for value in (2**62 + 1000, 7):
            kinds = (value, Decimal(value), Fraction(value), np.array(value))
            assert len({mechanism.sample(kind, Shake(3)) for kind in kinds}) == 1


def test_scores_beyond_64_bits_are_not_made_equal() -> None:
    assert Exponential(epsilon=1).release([2**61 + 2000, 2**61]) == 0
    for scores in ([2**62 + 2000, 2**62], [2**62 + 2000, float(2**62)], [2**70 + 2000, 2**70]):
        assert Exponential(epsilon=1).release(Private(scores)) == 0


def test_what_a_mask_hides_is_missing() -> None:
    hidden = np.ma.array([1, -(2**63), 3], mask=[False, True, False])
    assert answers.wholes(hidden)[0].tolist() == [1, 0, 3]
    assert answers.reals(hidden)[0].tolist() == [1, 0, 3]
    assert answers.floats(hidden, Fraction(0), Fraction(10)).tolist() == [1, 0, 3]
    assert answers.sizes(np.array([7, np.inf, np.nan], np.float16)).tolist() == [7, 2**62, 0]


def test_masked_entries_are_missing_whatever_their_fill_value() -> None:
    masked = np.ma.masked_values([1.0, -999.0, 3.0], -999.0)
    assert answers.unmasked(masked).tolist() == [1.0, None, 3.0]
    assert answers.unmasked(np.ma.array([1, 2], mask=[False, True])).tolist() == [1, None]
