"""Shared code of mechanisms that add noise: integers get integer noise, reals are released on a grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.mechanisms import answer as answers
from discreet.noise import lattice
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers

Numbers = int | float | NDArray[Any]


def check_answer(answer: Any, whole: bool) -> None:
    """Raise Invalid for a plain answer that is not valid."""
    if whole:
        answers.check_whole(answer)
    else:
        answers.check_numbers(answer)


def add_whole(answer: Any, one: Callable[[Bits], int], many: Callable[[int, Bits], Integers], bits: Bits) -> Numbers:
    """Add integer noise to an integer or a vector of integers; one draw avoids the overhead of arrays."""
    if answers.is_single(answer):
        return answers.whole_number(answer) + one(bits)
    counts, _ = answers.wholes(answer)
    return counts + many(len(counts), bits)


def add_real(answer: Any, law: Callable[[Fraction], lattice.Rounder], scale: Fraction, bits: Bits) -> Numbers:
    """Add noise of a continuous law to a real number or a vector of them, rounded exactly to the grid of its scale."""
    if type(answer) is float:
        return lattice.noisy_one(answer, law, scale, bits)
    values, single = answers.reals(answer)
    noisy = lattice.noisy(values, law, scale, bits)
    return float(noisy[0]) if single else noisy
