"""A finite universe of records: databases as rows of it, counting queries as predicates over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import whole
from discreet.private import Private

MOST_VALUES = 10**8
Predicate = Callable[[Any], Any]


def _values(values: Iterable[Any]) -> tuple[Any, ...]:
    try:
        read = tuple(_as_value(value) for value in islice(values, MOST_VALUES + 1))
        different = len(set(read)) == len(read)
    except TypeError:
        raise Invalid("a universe must be a list of hashable values, such as numbers, names or tuples of them") from None
    if not read or not different or len(read) > MOST_VALUES:
        raise Invalid(f"a universe must have between 1 and {MOST_VALUES:,} different values: leave out repeated ones")
    return read


def _as_value(row: Any) -> Any:
    """A row in the form used for lookup: a list or an array of columns equals the tuple of them."""
    if isinstance(row, np.ndarray):
        return tuple(row.tolist()) if row.ndim == 1 else row
    return tuple(row) if isinstance(row, list) else row


@final
@frozen(eq=False)
class Universe:
    """The values a record may have, in a public order.

    >>> people = Universe([("f", 20), ("f", 60), ("m", 20), ("m", 60)])
    >>> people.histogram([("m", 60), ("f", 20), ("m", 60)]).tolist()
    [1, 0, 0, 2]
    >>> people.rows([1, 0, 0, 2])
    [('f', 20), ('m', 60), ('m', 60)]
    >>> people.query(lambda person: person[1] > 40).tolist()
    [0, 1, 0, 1]
    """

    values: tuple[Any, ...] = field(converter=_values, repr=lambda values: f"{len(values):,} values")
    _places: dict[Any, int] = field(init=False, repr=False)

    @_places.default
    def _number(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def histogram(self, rows: Private[Any] | Iterable[Any]) -> Any:
        """Count how often each value occurs in a database given as rows; private rows give a private histogram.

        A private row outside the universe is left out, so one row changes one count by at most 1. A plain one is reported.
        """
        if isinstance(rows, Private):
            return rows.map(self._count)
        plain = list(rows)
        for number, row in enumerate(plain):
            if self._place(row) is None:
                raise Invalid(f"row {number} is not a value of the universe: leave it out, or add its value to the universe")
        return self._count(plain)

    def _count(self, rows: Iterable[Any]) -> NDArray[np.int64]:
        counts = np.zeros(len(self), np.int64)
        for row in rows:
            place = self._place(row)
            if place is not None:
                counts[place] += 1
        return counts

    def _place(self, row: Any) -> int | None:
        with suppress(Exception):  # unhashable or otherwise unreadable: an error would reveal that such a row exists
            return self._places.get(_as_value(row))
        return None

    def rows(self, histogram: Any) -> list[Any]:
        """The rows that a public histogram represents, in the universe's order."""
        counts = np.asarray(histogram)
        if counts.shape != (len(self),) or counts.dtype.kind not in "iu" or counts.min() < 0:
            raise Invalid(f"a histogram must have one count, a whole number of at least 0, for each of the universe's {len(self):,} values")
        return [value for value, count in zip(self.values, counts.tolist(), strict=True) for _ in range(count)]

    def query(self, predicate: Predicate, top: int = 1) -> NDArray[np.int64]:
        """A counting query as its values over the universe: 0 or 1; with `top`, whole numbers from 0 to top.

        The universe is public, so a predicate that fails on one of its values is reported.
        """
        if not callable(predicate):
            raise Invalid("a counting query must be a predicate, as in lambda row: row > 40")
        return np.array([_answer(predicate(value), whole(top, "top")) for value in self.values], np.int64)


def _answer(value: Any, top: int) -> int:
    """A predicate's value: a truth value, or a whole number from 0 to top."""
    kind = "?" if isinstance(value, bool | np.bool_) else "i" if isinstance(value, int | np.integer) else ""
    if kind == "?":
        return top if value else 0
    if not kind or not 0 <= value <= top:
        raise Invalid(
            f"a predicate must return True or False, or a whole number from 0 to {top}: write a comparison, as in lambda row: row > 40"
        )
    return int(value)
