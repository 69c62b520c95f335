"""Reading answers: numbers, vectors and scores of any kind a person may hold, exactly and totally.

An answer is *whole* (int64) or *real* by the types of its entries, not by their values: float64 where all are floats, otherwise exact
fractions, so that no entry is rounded before the noise. A missing entry (None, NaN) does not change the kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.noise.choice import Scores
from discreet.noise.refine import Integers

LIMIT = 2**62  # whole numbers in vectors are moved to ±this edge, which leaves room for the noise
_FAR = 10**400  # stands for ∞ among fractions: beyond every float
_LOWEST = float(np.finfo(np.float64).max)


def is_whole(answer: Any) -> bool:
    """Whether an answer is a single whole number, of any size."""
    return isinstance(answer, int | np.integer) and not isinstance(answer, np.timedelta64)


def is_number(entry: Any) -> bool:
    """Whether an entry of a vector is a number, or missing."""
    return entry is None or isinstance(entry, int | float | Fraction | Decimal | np.integer | np.floating)


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float | np.floating | Decimal) and math.isnan(entry))


def vector(answer: Any, what: str = "the answer", *, missing: int = 0, empty: bool = False) -> tuple[NDArray[Any], bool]:
    """Read a number or a one-dimensional vector as int64, float64 or fractions; say whether it was a single number.

    Whole numbers beyond ±2⁶² move to that edge; in whole numbers and fractions what is missing counts as `missing`, floats keep their
    NaN. What is not a number at all is an error of type. The length of an answer is public and must not be 0; that of a list of records
    is private and may be (`empty`).
    """
    if isinstance(answer, np.ndarray | np.generic) and answer.dtype.kind not in "biufO":
        raise Invalid(f"{what} must be a number or a vector of numbers")
    single = not isinstance(answer, list | tuple) and np.ndim(answer) == 0
    entries = [answer.item() if isinstance(answer, np.ndarray | np.generic) else answer] if single else answer
    array = _read(entries, what, missing)
    if array.ndim > 1:
        raise Invalid(f"{what} must be one number or a one-dimensional vector: flatten it first")
    if array.size == 0 and not empty:
        raise Invalid(f"{what} is an empty vector: there is nothing to release")
    return array, single


def _read(entries: Any, what: str, missing: int) -> NDArray[Any]:
    if isinstance(entries, list | tuple):
        kinds = set(map(type, entries))
        if kinds <= {float}:
            return np.array(entries, np.float64)
        return _mixture(entries, what, missing)
    array = np.asarray(entries)
    if array.ndim > 1:
        return array  # refused by the caller
    if array.dtype.kind in "bu":
        return np.minimum(array.astype(np.uint64), LIMIT).astype(np.int64)
    if array.dtype.kind == "i":
        fits = not array.size or (array.min() >= -LIMIT and array.max() <= LIMIT)
        return np.asarray(array if fits else np.clip(array, -LIMIT, LIMIT), np.int64)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return np.asarray(array, np.float64)
    return _mixture(array.tolist(), what, missing)


def _mixture(entries: Iterable[Any], what: str, missing: int) -> NDArray[Any]:
    """Whole numbers of any size, fractions, decimals, floats, and what is missing."""
    listed = list(entries)
    there = [entry for entry in listed if not _is_missing(entry)]
    if there and all(is_whole(entry) for entry in there):
        return np.array([missing if _is_missing(x) else min(max(int(x), -LIMIT), LIMIT) for x in listed], np.int64)
    if all(isinstance(entry, float | np.floating) for entry in there):
        return np.array([math.nan if _is_missing(x) else float(x) for x in listed], np.float64)
    out = np.empty(len(listed), object)
    out[:] = [Fraction(missing) if _is_missing(x) else _fraction(x, what) for x in listed]
    return out


def _fraction(entry: Any, what: str) -> Fraction:
    if isinstance(entry, float | np.floating | Decimal) and math.isinf(entry):
        return Fraction(_FAR if entry > 0 else -_FAR)
    if is_whole(entry):
        return Fraction(int(entry))
    if isinstance(entry, Fraction | float | np.floating | Decimal):
        return Fraction(*entry.as_integer_ratio())
    raise Invalid(f"{what} must be a number or a vector of numbers") from None


def check_numbers(answer: Any, what: str = "the answer", *, empty: bool = False) -> None:
    """Report a plain answer with something missing or infinite in it, or whose vector of whole numbers does not fit 64 bits."""
    if is_whole(answer) or (type(answer) is float and math.isfinite(answer)):
        return
    array, _ = vector(answer, what, empty=empty)
    if array.dtype == np.float64 and not np.isfinite(array).all():
        raise Invalid(f"{what} contains NaN or infinity: clamp it to known bounds first")
    if array.dtype == object and (np.abs(array) >= _FAR).any():
        raise Invalid(f"{what} contains infinity: clamp it to known bounds first")
    if array.dtype == np.int64 and array.size and (array.min() == -LIMIT or array.max() == LIMIT):
        raise Invalid(f"{what} contains whole numbers beyond ±2^62: count in a coarser unit")
    if isinstance(answer, list | tuple) and any(map(_is_missing, answer)):
        raise Invalid(f"{what} contains something missing: fill it or leave it out first")


def wholes(answer: Any, what: str, *, missing: int = 0, empty: bool = False) -> Integers:
    """Read a vector as whole numbers: reals are rounded down, which keeps whole distances; NaN counts as `missing`."""
    array, _ = vector(answer, what, missing=missing, empty=empty)
    if array.dtype == object:
        return np.array([min(max(math.floor(x), -LIMIT), LIMIT) for x in array], np.int64)
    if array.dtype == np.float64:
        return np.asarray(np.clip(np.floor(np.nan_to_num(array, nan=float(missing))), -LIMIT, LIMIT), np.int64)
    return np.asarray(array, np.int64)


def check_whole(answer: Any, what: str, *, empty: bool = False) -> None:
    """Report a plain answer that is not made of whole numbers."""
    check_numbers(answer, what, empty=empty)
    array, _ = vector(answer, what, empty=empty)
    if array.size and array.dtype != np.int64:
        raise Invalid(f"{what} must be whole numbers: round first, or use noise for reals")


def single(answer: Any, what: str = "the answer") -> Fraction:
    """Read one number exactly; NaN counts as 0, and infinities as a number beyond all floats."""
    array, alone = vector(answer, what)
    if not alone:
        raise Invalid(f"{what} must be one number")
    if is_whole(answer):
        return Fraction(int(answer))
    entry = array[0]
    return Fraction(0) if _is_missing(entry) else _fraction(entry.item() if isinstance(entry, np.generic) else entry, what)


def scores(answer: Any) -> Scores:
    """Read the scores of candidates: what is missing and −∞ count as the lowest score, +∞ as the highest float."""
    array, alone = vector(answer, "the scores", missing=-LIMIT)
    if alone:
        raise Invalid("the scores must be a vector with one score for each candidate")
    if array.dtype == np.float64 and not np.isfinite(array).all():
        array = np.nan_to_num(array, nan=-_LOWEST, posinf=_LOWEST, neginf=-_LOWEST)
    return array


def check_scores(answer: Any) -> Scores:
    """Report plain scores that are not finite numbers, one for each candidate."""
    check_numbers(answer, "the scores")
    return scores(answer)
