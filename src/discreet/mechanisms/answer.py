"""Reading answers: numbers, vectors and scores of any kind a person may hold, as arrays that mechanisms can trust."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.noise.choice import Scores

LIMIT = 2**62  # whole numbers in vectors are moved to ±this edge, which leaves room for the noise


def is_whole(answer: Any) -> bool:
    """Whether an answer is a single whole number, of any size."""
    return isinstance(answer, int | np.integer) and not isinstance(answer, np.timedelta64)


def vector(answer: Any, what: str = "the answer", *, empty: bool = False) -> tuple[NDArray[Any], bool]:
    """Read a number or a one-dimensional vector as int64 or float64, totally; say whether it was a single number.

    Whole numbers beyond ±2⁶² move to that edge. What is not a number at all is an error of type, not of value. The length of an answer
    is public and must not be 0; that of a list of records is private and may be (`empty`).
    """
    array = np.asarray(answer)
    if array.dtype == object:
        array = _clipped(array, what)
    if array.dtype.kind in "bu":
        array = np.minimum(array, LIMIT).astype(np.int64)
    elif array.dtype.kind == "i":
        array = np.clip(array.astype(np.int64), -LIMIT, LIMIT)
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)
    else:
        raise Invalid(f"{what} must be a number or a vector of numbers")
    if array.ndim > 1:
        raise Invalid(f"{what} must be one number or a one-dimensional vector: flatten it first")
    if array.size == 0 and not empty:
        raise Invalid(f"{what} is an empty vector: there is nothing to release")
    return array.reshape(-1), array.ndim == 0


def _clipped(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Object arrays hold whole numbers beyond 64 bits, fractions, or a mixture."""
    try:
        if all(is_whole(x) for x in array.flat):
            return np.array([min(max(int(x), -LIMIT), LIMIT) for x in array.flat], np.int64).reshape(array.shape)
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Invalid(f"{what} must be a number or a vector of numbers") from None


def check_numbers(answer: Any, what: str = "the answer") -> None:
    """Report a plain answer that is not finite, or whose vector of whole numbers does not fit 64 bits."""
    if is_whole(answer):
        return
    array, _ = vector(answer, what)
    if array.dtype == np.float64 and not np.isfinite(array).all():
        raise Invalid(f"{what} contains NaN or infinity: clamp it to known bounds first")
    if array.dtype == np.int64 and (np.abs(array) == LIMIT).any():
        raise Invalid(f"{what} contains whole numbers beyond ±2^62: count in a coarser unit")


def scores(answer: Any) -> Scores:
    """Read the scores of candidates: NaN and −∞ count as the lowest float, +∞ as the highest."""
    array, single = vector(answer, "the scores")
    if single:
        raise Invalid("the scores must be a vector with one score for each candidate")
    if array.dtype == np.float64:
        top = np.finfo(np.float64).max
        array = np.nan_to_num(array, nan=-top, posinf=top, neginf=-top)
    return array
