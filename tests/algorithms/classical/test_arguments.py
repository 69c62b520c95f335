"""Arguments of the classical algorithms: histograms and matrices as they are read."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.algorithms.classical import arguments
from discreet.algorithms.classical.arguments import check_histogram, private_histogram, read_histogram, whole_matrix
from discreet.errors import Invalid
from discreet.private import Private, reveal


def test_histograms_are_read_totally() -> None:
    assert read_histogram([1.7, math.nan, -2], 3, 1).tolist() == [1, 0, 0]
    huge = read_histogram([10**30, 2**62, 1], 3, 7)
    assert int(huge[0]) * 3 * 7 <= 2**62
    assert int(huge @ [7, 7, 7]) == 7 * sum(huge.tolist())  # no overflow
    for wrong in ([1, 2], 5, [[1, 2, 3]]):
        with pytest.raises(Invalid):
            read_histogram(wrong, 3, 1)
    for wrong in ([1, -1, 0], [1.5, 0, 0]):
        with pytest.raises(Invalid):
            check_histogram(wrong, 3)


def test_a_matrix_is_whole_and_read_only() -> None:
    plain = [[1, 0], [True, 3]]
    read = whole_matrix(plain, "no")
    assert (read.dtype, read.tolist()) == (np.int64, [[1, 0], [1, 3]])
    with pytest.raises(ValueError, match="read-only"):
        read[0, 0] = 5
    for wrong in ([1, 2], [[]], [[1.0]], [["a"]], 3, None):
        with pytest.raises(Invalid, match="give a matrix"):
            whole_matrix(wrong, "give a matrix")


def test_a_private_histogram_is_read_inside_and_a_plain_one_is_checked() -> None:
    assert reveal(private_histogram(Private([math.nan, -2, 10**30]), 3, 1)).tolist()[:2] == [0, 0]
    assert reveal(private_histogram([1, 2, 3], 3, 1)).tolist() == [1, 2, 3]
    for wrong in ([1, 2], [1, -2, 3], [0.5, 1, 2]):
        with pytest.raises(Invalid):
            private_histogram(wrong, 3, 1)


def test_parameters_that_must_lie_between() -> None:
    for read, name in ((arguments.accuracy, "accuracy"), (arguments.beta, "beta")):
        assert read("0.25") == Fraction(1, 4)
        for wrong in (0, 1, -1, 2):
            with pytest.raises(Invalid, match=f"{name} must lie strictly between 0 and 1"):
                read(wrong)
    assert arguments.records(None) is arguments.updates(None) is arguments.epsilon(None) is None
    assert (arguments.near(0), arguments.sweeps(0)) == (0, 0)
    for positive in (arguments.rounds, arguments.domain, arguments.margin):
        with pytest.raises(Invalid):
            positive(0)
