"""Reading answers: numbers, vectors, records and scores of any Python or NumPy type, exactly and totally.

Computed answers (`wholes`, `reals`, `scores`) are read without rounding before the noise. Records (`floats`, `sizes`) are read one by
one: no record affects how another is read, and a value that is not a number is missing.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.noise.choice import Scores
from discreet.noise.refine import Floats, Integers

LIMIT = 2**62  # integers in vectors are clamped to ± this, which leaves room for the noise
_FAR = Fraction(10**400)  # stands for ∞: beyond every float
_LONGEST = 5000  # decimal places
_HIGHEST = float(np.finfo(np.float64).max)
_NUMBERS = (int, float, Fraction, Decimal, np.integer, np.floating, np.bool_)


def is_whole(answer: Any) -> bool:
    """Whether an answer is a single integer, of any size."""
    return isinstance(answer, int | np.integer | np.bool_) and not isinstance(answer, np.timedelta64)


def looks_whole(answer: Any) -> bool:
    """Whether the type of a plain answer is integer."""
    if isinstance(answer, list | tuple):
        return all(map(is_whole, answer))
    return is_whole(answer) or (isinstance(answer, np.ndarray) and answer.dtype.kind in "biu")


def exactly(entry: Any) -> Fraction | None:
    """One entry as an exact number, clamped beyond the range of floats; None for NaN, None and values that are not numbers."""
    if isinstance(entry, np.timedelta64) or not isinstance(entry, _NUMBERS):
        return None
    if is_whole(entry):
        return min(max(Fraction(int(entry)), -_FAR), _FAR)
    if entry.is_nan() if isinstance(entry, Decimal) else entry != entry:
        return None
    if isinstance(entry, Decimal) and entry.is_finite() and abs(entry.adjusted()) > _LONGEST:
        entry = Decimal(0) if entry.adjusted() < 0 else entry * Decimal("Infinity")  # its expansion might not fit in memory
    if isinstance(entry, Decimal | float | np.floating) and math.isinf(entry):
        return _FAR if entry > 0 else -_FAR
    return min(max(Fraction(*entry.as_integer_ratio()), -_FAR), _FAR)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_single(answer: Any) -> bool:
    """Whether an answer is one number and not a vector."""
    return isinstance(answer, int | float) or (not isinstance(answer, list | tuple) and np.ndim(answer) == 0)


def unmasked(answer: Any) -> Any:
    """Replace masked entries by None, which is missing."""
    return answer.astype(object).filled(None) if np.ma.isMaskedArray(answer) else answer  # type: ignore[attr-defined]


def _entries(answer: Any, what: str) -> tuple[Any, bool]:
    """A list or a one-dimensional array, and whether it was a single number; other types are Invalid."""
    answer = unmasked(answer)
    if isinstance(answer, np.ndarray | np.generic):
        if answer.dtype.kind not in "biufO":
            raise Invalid(f"{what} must be a number or a vector of numbers")
        if answer.ndim > 1:
            raise Invalid(f"{what} must be a number or a one-dimensional vector: flatten it first")
        single = answer.ndim == 0
        listed: Any = [answer.item()] if single else answer
    elif isinstance(answer, list | tuple):
        single, listed = False, answer
    elif answer is None or isinstance(answer, _NUMBERS):
        single, listed = True, [answer]
    elif hasattr(answer, "__array__"):  # a series, a column
        return _entries(np.asarray(answer), what)
    else:
        raise Invalid(f"{what} must be a number or a vector of numbers: convert it to a list or an array first")
    if not len(listed):
        raise Invalid(f"{what} is an empty vector: give at least one number")
    return listed, single


def wholes(answer: Any, what: str = "the answer", *, missing: int = 0) -> tuple[Integers, bool]:
    """Read as integers, reals rounded down, clamped to ±2⁶²; and whether it was one number."""
    listed, single = _entries(answer, what)
    if isinstance(listed, np.ndarray) and listed.dtype.kind in "biu":
        edge = np.clip(listed, 0, LIMIT) if listed.dtype.kind in "bu" else listed
        fits = listed.dtype.kind != "i" or (listed.min() >= -LIMIT and listed.max() <= LIMIT)
        return np.asarray(edge if fits else np.clip(listed, -LIMIT, LIMIT), np.int64), single
    if isinstance(listed, np.ndarray) and listed.dtype == np.float64:
        return np.asarray(np.clip(np.floor(np.nan_to_num(listed, nan=float(missing))), -LIMIT, LIMIT), np.int64), single
    read = [exactly(entry) for entry in listed]
    return np.array([missing if x is None else min(max(math.floor(x), -LIMIT), LIMIT) for x in read], np.int64), single


def reals(answer: Any, what: str = "the answer", *, missing: Fraction = Fraction(0)) -> tuple[NDArray[Any], bool]:
    """Read as reals: floats unchanged (with NaN), everything else as exact fractions; and whether it was one number."""
    listed, single = _entries(answer, what)
    if isinstance(listed, np.ndarray) and listed.dtype.kind == "f" and listed.dtype.itemsize <= 8:
        return np.asarray(listed, np.float64), single
    if not isinstance(listed, np.ndarray) and set(map(type, listed)) <= {float}:
        return np.array(listed, np.float64), single
    out = np.empty(len(listed), object)
    out[:] = [missing if (x := exactly(entry)) is None else x for entry in listed]
    return out, single


def number(answer: Any, what: str = "the answer") -> Fraction:
    """Read one number exactly; a missing one is 0, and an infinite one is clamped beyond the range of floats."""
    listed, single = _entries(answer, what)
    if not single:
        raise Invalid(f"{what} must be one number")
    return exactly(listed[0]) or Fraction(0)


def whole_number(answer: Any) -> int:
    """Read one integer; a real is rounded down."""
    return answer if type(answer) is int else math.floor(number(answer))


def scores(answer: Any) -> Scores:
    """Read the scores of candidates: missing scores and −∞ become the lowest float, +∞ the highest."""
    listed, single = _entries(answer, "the scores")
    if single:
        raise Invalid("the scores must be a vector with one score for each candidate")
    if looks_whole(listed) and abs(read := wholes(listed)[0]).max() < LIMIT:
        return read
    array, _ = reals(listed, missing=-_FAR)
    if array.dtype == np.float64 and not np.isfinite(array).all():
        array = np.nan_to_num(array, nan=-_HIGHEST, posinf=_HIGHEST, neginf=-_HIGHEST)
    return array


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def floats(records: Any, lower: Fraction, upper: Fraction) -> Floats:
    """Read records as floats clamped to two bounds, each by itself; a missing record is the lower bound."""
    array = _records(records)
    low, high = float(lower), float(upper)
    if array.dtype == object:
        read = [exactly(entry) for entry in array.tolist()]
        array = np.array([low if x is None else float(min(max(x, lower), upper)) for x in read], np.float64)
    return np.clip(np.nan_to_num(np.asarray(array, np.float64), nan=low, posinf=high, neginf=low), low, high)


def sizes(records: Any) -> Integers:
    """Read the sizes of groups, each by itself: rounded down, at least 0; a missing size is 0."""
    array = _records(records)
    if array.dtype == object:
        return np.array([min(max(math.floor(exactly(entry) or 0), 0), LIMIT) for entry in array.tolist()], np.int64)
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array
    return np.asarray(np.clip(np.nan_to_num(wide), 0, LIMIT), np.int64)


def _records(records: Any) -> NDArray[Any]:
    """An array of numbers, or of objects to be read one by one."""
    records = unmasked(records)
    if isinstance(records, np.ndarray) or hasattr(records, "__array__"):
        array = np.asarray(records)
        if array.ndim != 1:
            raise Invalid("records must be a one-dimensional list or array, one for each unit")
        return array if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8 else array.astype(object)
    if isinstance(records, str | bytes) or not hasattr(records, "__len__") or not hasattr(records, "__iter__"):
        raise Invalid("records must be a list or an array, one for each unit: convert them with list(...)")
    out = np.empty(len(records), object)
    out[:] = list(records)
    return out


# ── checks of plain answers ──────────────────────────────────────────────────────────────────────────────────────────


def check_numbers(answer: Any, what: str = "the answer") -> None:
    """Raise Invalid for a plain answer with missing or infinite numbers."""
    if is_whole(answer) or (type(answer) is float and math.isfinite(answer)):
        return
    listed, _ = _entries(answer, what)
    if isinstance(listed, np.ndarray) and listed.dtype.kind in "biu":
        return
    if isinstance(listed, np.ndarray) and listed.dtype.kind == "f":
        good = bool(np.isfinite(listed).all())
    else:
        good = all((x := exactly(entry)) is not None and abs(x) < _FAR for entry in listed)
    if not good:
        raise Invalid(f"{what} contains NaN, infinite or missing values: clamp, fill or drop them first")


def check_whole(answer: Any, what: str = "the answer") -> None:
    """Raise Invalid for a plain answer that is not made of integers, or whose vector does not fit 64 bits."""
    if is_whole(answer):
        return
    check_numbers(answer, what)
    if not looks_whole(answer):
        raise Invalid(f"{what} must be whole numbers: round first, or set whole=False")
    read, _ = wholes(answer, what)
    if read.min() == -LIMIT or read.max() == LIMIT:
        raise Invalid(f"{what} contains whole numbers beyond ±2^62: use a coarser unit")


def check_scores(answer: Any) -> None:
    """Raise Invalid for plain scores that are not finite numbers, one for each candidate."""
    check_numbers(answer, "the scores")
    scores(answer)
    if looks_whole(answer):
        check_whole(answer, "the scores")


def check_records(records: Any) -> None:
    """Raise Invalid for plain records that are missing or not numbers."""
    array = _records(records)
    strange = (
        any(exactly(x) is None for x in array.tolist()) if array.dtype == object else array.dtype.kind == "f" and np.isnan(array).any()
    )
    if strange:
        raise Invalid("the records contain values that are missing or not numbers: fill or drop them first")
