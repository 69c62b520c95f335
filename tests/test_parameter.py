"""Each reader names its parameter and keeps its range."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet import parameter
from discreet.errors import Invalid

READERS: list[tuple[Callable[[Any], Any], str, list[Any], list[Any]]] = [
    (parameter.some_epsilon, "epsilon", [0.1, "1e-30", 10**30], [0, -1, "1e-80", 10**80, "x", None, True]),
    (parameter.any_epsilon, "epsilon", [0, 0.1, 10**80], [-1, "x"]),
    (parameter.some_delta, "delta", ["1e-400", 0.5], [0, 1, -0.1]),
    (parameter.any_delta, "delta", [0, 0.5], [1, -0.1]),
    (parameter.price_epsilon, "epsilon", [0.1, "1e-40"], [0, "1e-41"]),
    (parameter.price_delta, "delta", [0, "1e-40"], [1, "1e-41"]),
    (parameter.rho, "rho", [0, 2], [-1]),
    (parameter.mu, "mu", [0, 2], [-1]),
    (parameter.ratio_squared, "ratio_squared", [0, 2], [-1]),
    (parameter.sensitivity, "sensitivity", ["1/3", 1], [0, -1, 10**80]),
    (parameter.whole_sensitivity, "sensitivity", [1, 5], [0, 0.5, 1.0]),
    (parameter.scale, "scale", [0.5], [0, 10**80]),
    (parameter.share, "share", [0.5], [0, 1]),
    (parameter.step, "step", [0.5], [0]),
    (parameter.lower, "lower", [-3, 0], ["x"]),
    (parameter.upper, "upper", [-3, 0], ["x"]),
    (parameter.threshold, "threshold", [-3, 0], ["x"]),
    (parameter.shift, "shift", [0, 3], [-1, 0.5]),
    (parameter.k, "k", [1, 3], [0, 1.5, True]),
    (parameter.hits, "hits", [1], [0]),
    (parameter.partitions, "partitions", [1], [0]),
    (parameter.unit, "unit", [1], [0]),
    (parameter.choices, "choices", [2, 2**62], [1, 2**62 + 1]),
    (parameter.sample_rate, "sample", [0.01, "1e-6", "0.999999999"], [0, 1, -0.1, "1e-7", "1/3000000007", "x", True]),
    (parameter.whole_or_not, "whole", [None, True, False], [0, 1, "yes"]),
    (parameter.monotone, "monotone", [True, False], [None, 1, "yes"]),
]


@pytest.mark.parametrize(("reader", "name", "right", "wrong"), READERS, ids=[reader.__name__ for reader, *_ in READERS])
def test_readers(reader: Callable[[Any], Any], name: str, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        read = reader(value)
        assert read == (Fraction(str(value)) if isinstance(value, float | str) else value)
    for value in wrong:
        with pytest.raises(Invalid, match=name):
            reader(value)


def test_every_reader_is_tested() -> None:
    public = {name for name, value in vars(parameter).items() if callable(value) and value.__module__ == parameter.__name__}
    assert {reader.__name__ for reader, *_ in READERS} == {name for name in public if not name.startswith("_")}


def test_charges_are_rounded_down_to_the_grid() -> None:
    third = parameter.price_epsilon("1/3")
    assert 0 < Fraction(1, 3) - third < Fraction(1, 10**40)
    assert 3 * third <= 1
