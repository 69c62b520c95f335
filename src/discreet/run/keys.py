"""Convert keys to and from the engine's form, and locate each group in the release."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.engines.engine import Columns
from discreet.plan.key_values import KeyValues, key_column
from discreet.tables.kind import Kind, Value


def received(value: Any, kind: Kind | None) -> Value | None:
    """A key from the engine as a value of its kind; a date outside Python's calendar stays text."""
    if value is None:
        return None
    try:
        if kind is Kind.DATE:
            return datetime.date.fromisoformat(value)
        if kind is Kind.TIMESTAMP:
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        return str(value)
    return value  # type: ignore[no-any-return]


def sent(value: Value | None) -> Any:
    """A public key in the engine's form: fractions of seconds without trailing zeros."""
    if isinstance(value, datetime.datetime):
        text = value.isoformat(sep=" ")
        return text.rstrip("0") if value.microsecond else text
    return value.isoformat() if isinstance(value, datetime.date) else value


@final
@frozen(eq=False)
class Positions:
    """The index of each public group in the release; rows of other groups are left out, or have an index of their own."""

    place: Mapping[tuple[Any, ...], int]
    keys: int
    whole: tuple[NDArray[np.int64], NDArray[np.int64]] | None  # one whole key: its values in order, and their places
    each: tuple[int, ...] = ()  # the sizes of axes, where rows have numbers on these and no keys

    @classmethod
    def numbered(cls, sizes: Sequence[int]) -> Positions:
        """All combinations of the numbers on axes of these sizes, which rows have instead of keys."""
        return cls.of(((),)) if not sizes else cls({}, len(sizes), None, tuple(sizes))

    @classmethod
    def of(cls, groups: KeyValues) -> Positions:
        keys = len(next(iter(groups), (None,)))
        if keys == 1 and set(map(type, listed := key_column(groups, 0))) == {int}:
            values = np.array(listed, np.int64)
            order = np.argsort(values)
            return cls({}, 1, (values[order], order))
        return cls({tuple(sent(value) for value in group): i for i, group in enumerate(groups)}, keys, None)

    @property
    def size(self) -> int:
        if self.each:
            return math.prod(self.each)
        return len(self.place) if self.whole is None else len(self.whole[0])

    def places(self, columns: Columns) -> NDArray[np.int64]:
        """Each row's group, or −1."""
        length = len(next(iter(columns.values())))
        if not self.keys:
            return np.zeros(length, np.int64)
        if self.each:
            codes = [columns[f"k{i}"].astype(np.int64) for i in range(self.keys)]
            return np.asarray(np.ravel_multi_index(codes, self.each), np.int64)
        if self.whole is not None and columns["k0"].dtype.kind in "iu":
            values, order = self.whole
            at = np.minimum(np.searchsorted(values, columns["k0"]), len(values) - 1)
            return np.where(values[at] == columns["k0"], order[at], -1)
        place = self.place if self.whole is None else {(int(v),): int(i) for v, i in zip(*self.whole, strict=True)}
        labels = zip(*(columns[f"k{i}"].tolist() for i in range(self.keys)), strict=True)
        return np.fromiter((place.get(label, -1) for label in labels), np.int64, length)

    def add(self, cells: NDArray[np.int64], columns: Columns) -> None:
        """Add columns s0, s1, … to rows of cells, which have one whole number for each public group."""
        at = self.places(columns)
        inside = at >= 0
        for place, row in enumerate(cells):
            np.add.at(row, at[inside], columns[f"s{place}"][inside].astype(np.int64))
