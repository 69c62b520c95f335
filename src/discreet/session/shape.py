"""The shape of what a saved release holds. A seal says that a file was not changed, not that its values are those of a release.

Each check raises ValueError, which `Released.from_text` turns into Invalid; so whatever opens can also be shown, drawn and exported.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any, get_args

from discreet.query.statistics.statistic import Drawn
from discreet.run.output_column import OutputColumn

_NUMBERS = {int, float}


def require(fits: bool) -> None:
    """Raise ValueError unless this holds."""
    if not fits:
        raise ValueError("this is not the shape of a release")


def check_texts(value: Any) -> None:
    """All texts, however deep, are ones that a file can hold: no halves of a surrogate pair."""
    match value:
        case str():
            value.encode("utf-8")
        case dict():
            check_texts(list(value))
            check_texts(list(value.values()))
        case list():
            for one in value if set(map(type, value)) - _NUMBERS else ():
                check_texts(one)


def is_number(value: Any) -> bool:
    """Whether this is a number that a float can hold; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_amount(value: Any) -> bool:
    """Whether this is such a number, and not negative."""
    return is_number(value) and value >= 0


def numbers(values: Any) -> list[Any]:
    """A list of numbers."""
    require(isinstance(values, list) and all(map(is_number, values)))
    return list(values)


def whole(value: Any, least: int, most: int) -> int:
    """A whole number between two ends."""
    require(type(value) is int and least <= value <= most)
    return int(value)


def text(value: Any) -> str:
    """A text."""
    require(isinstance(value, str))
    return str(value)


def is_cell(value: Any) -> bool:
    """Whether this is one value of a table."""
    if isinstance(value, datetime.datetime):
        return value.tzinfo is None
    return value is None or isinstance(value, bool | str | datetime.date) or is_number(value)


def check_cells(values: Any, besides: str | None = None) -> None:
    """A list of values of one type, with whole numbers and floats together, and perhaps one text besides them; None is of all types."""
    require(isinstance(values, list))
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= _NUMBERS:
        require(are_numbers(values))
    elif kinds != {str}:
        require(all(map(is_cell, values)))
        require(len({_type(value) for value in values if value is not None and value != besides}) <= 1)


def are_numbers(values: Any) -> bool:
    """Whether all of these are numbers or None; as `is_number` for each, and quicker."""
    known = [value for value in values if value is not None]
    if set(map(type, known)) == {float}:
        return all(map(math.isfinite, known))
    return all(map(is_number, known))


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def check_columns(columns: Sequence[OutputColumn], besides: str | None = None) -> None:
    """Columns with names of their own and equally many rows, whose intervals can be computed."""
    require(len({text(column.name) for column in columns}) == len(columns))
    for column in columns:
        check_cells(column.values, besides)
        require(len(column.values) == len(columns[0].values))
        require(column.drawn in get_args(Drawn))
        require(all(end is None or is_number(end) for end in (column.least, column.most)))
        if column.raw is not None:
            check_cells(column.raw)
            require(len(column.raw) == len(column.values))
        if column.widths is not None:
            _check_widths(column)
        if column.ends is not None:
            _check_ends(column)
        if column.tidy is not None:
            require(isinstance(column.tidy, list) and len(column.tidy) == len(column.values))
            require(all(one is None or is_amount(one) for one in column.tidy))
        for marks in (column.few, column.summed):
            require(marks is None or (isinstance(marks, list) and len(marks) == len(column.values)))
            require(all(isinstance(one, bool) for one in marks or ()))


def _check_ends(column: OutputColumn) -> None:
    require(column.widths is None and isinstance(column.ends, list) and len(column.ends) == len(column.values))
    require(are_numbers(column.values))
    for pair in column.ends or ():
        require(pair is None or (isinstance(pair, list | tuple) and len(pair) == 2 and all(map(is_number, pair)) and pair[0] <= pair[1]))


def _check_widths(column: OutputColumn) -> None:
    require(are_numbers(column.values))
    if not isinstance(column.widths, list):
        require(is_amount(column.widths))
        return
    require(len(column.widths) == len(column.values))
    require(are_numbers(column.widths) and all(width is None or width >= 0 for width in column.widths))
