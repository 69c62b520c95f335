"""Values in Python as codes, as the engine computes them: for an owner who holds the real rows and compares them with synthetic ones."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.session.synthesize.codes import Binned, Grain, Listed
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.edges import Cut
from discreet.tables.kind import Kind

LEFT_OUT = -1


def encode(coding: Coding, values: Sequence[Any]) -> NDArray[np.int64]:
    """The code of each value, None and NaN for NULL; −1 where its row has no place in the table."""
    present = [None if is_missing(value) else value for value in values]
    code = _coder(coding)
    try:
        known = {value: code(value) for value in set(present)}
    except (TypeError, ValueError):  # whose text would repeat a value
        raise Invalid(f"{coding.name} has values of another type than the synthetic table: give the rows that it was made from") from None
    return np.array([known[value] for value in present], np.int64)


def is_missing(value: Any) -> bool:
    """Whether a value of a data frame stands for NULL: None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor different
        return True


def _coder(coding: Coding) -> Callable[[Any], int]:
    match coding:
        case Listed():
            places = {value: place for place, value in enumerate(coding.values)}
            other = len(coding.values) if coding.rest else LEFT_OUT
            return lambda value: places.get(_begun(_as_kind(coding.kind, value), coding.grain), other)
        case Binned():
            return lambda value: _bin(coding, value)
        case Cut():
            inner = [edge if isinstance(edge, datetime.date) else float(edge) for edge in coding.edges[1:-1]]
            missing = coding.bins if coding.missing else LEFT_OUT
            return lambda value: missing if value is None else bisect_right(inner, _as_kind(coding.kind, value))


def _bin(coding: Binned, value: Any) -> int:
    if value is None:
        return coding.bins if coding.missing else 0
    if isinf(value):
        return coding.bins - 1 if value > 0 else 0
    return min(max(int((Fraction(value) - coding.low) // coding.width), 0), coding.bins - 1)


def _as_kind(kind: Kind, value: Any) -> Any:
    """Data frames hold dates as timestamps."""
    return value.date() if kind is Kind.DATE and isinstance(value, datetime.datetime) else value


def _begun(value: Any, grain: Grain | None) -> Any:
    """The first day of a date's month or year, where dates stand for these."""
    if not isinstance(value, datetime.date) or grain in (None, "day"):
        return value
    return value.replace(day=1) if grain == "month" else value.replace(month=1, day=1)
