"""The metadata of a column: its kind, its bounds, and its public values."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import evolve, field, frozen

from discreet.errors import Invalid
from discreet.tables.kind import Kind, Value

Bounds: TypeAlias = tuple[Fraction, Fraction]
MOST_KEYS = 10_000_000


@final
@frozen
class ColumnMetadata:
    """What is declared about a column; nothing here comes from the values of the data.

    Values are clipped to the bounds. In a query that groups by the column, rows whose value is not a public key are dropped. A column may
    contain NULL unless it is declared not to.

    >>> ColumnMetadata.of("age", Kind.INTEGER, bounds=(0, 120)).bounds
    (Fraction(0, 1), Fraction(120, 1))
    """

    name: str
    kind: Kind
    bounds: Bounds | None = field(default=None)
    keys: tuple[Value | None, ...] | None = field(default=None)
    nullable: bool = True
    unique: bool = False  # no two rows have the same value, so that a join with this public table does not multiply rows
    parsed_from: str | None = None  # the stored column of texts that it is parsed from, if a profile found its kind; NULL where that fails

    @classmethod
    def of(
        cls, name: str, kind: Kind, *, bounds: Any = None, keys: Any = None, nullable: bool = True, unique: bool = False
    ) -> ColumnMetadata:
        """Read bounds and keys as people write them."""
        return cls(name, kind, read_bounds(kind, bounds, name), read_keys(kind, keys, name), nullable, unique)

    def parsed_as(self, kind: Kind) -> ColumnMetadata:
        """The same column of texts, parsed as a kind; what does not parse is NULL, whatever was declared."""
        return self if kind is Kind.TEXT else evolve(self, kind=kind, nullable=True, parsed_from=self.name)


def read_bounds(kind: Kind, bounds: Any, name: str) -> Bounds | None:
    """The lower and upper bound as exact numbers; dates as day numbers."""
    if bounds is None:
        return None
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise Invalid(f"the bounds of {name} must be a pair: give (lower, upper)")
    if kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise Invalid(f"{name} is of type {kind.value}, and only numbers and dates have bounds: remove its bounds")
    low, high = (kind.read(end, f"the {which} bound of {name}") for end, which in zip(bounds, ("lower", "upper"), strict=True))
    low, high = (Fraction(end.toordinal()) if isinstance(end, datetime.date) else Fraction(end) for end in (low, high))
    if not low < high:
        raise Invalid(f"the lower bound of {name} must be below the upper")
    if max(abs(low), abs(high)) > 10**50 or any(0 < abs(end) < Fraction(1, 10**50) for end in (low, high)):
        raise Invalid(f"the bounds of {name} must lie within ±10^50, and be 0 or at least 10^-50 in size")
    return low, high


def read_keys(kind: Kind, keys: Any, name: str) -> tuple[Value | None, ...] | None:
    """The public values of a column, in the order given, without duplicates; None stands for rows without a value."""
    if keys is None:
        return None
    if isinstance(keys, str) or not hasattr(keys, "__iter__"):
        raise Invalid(f"the keys of {name} must be a list of values, such as ['a', 'b']")
    if kind is Kind.REAL:
        raise Invalid(f"{name} holds real numbers, which cannot be group keys: group by bins made with WIDTH_BUCKET or FLOOR")
    read = tuple(None if key is None else kind.read(key, f"each key of {name}") for key in keys)
    if not read or len(set(read)) != len(read):
        raise Invalid(f"the keys of {name} must be different, and there must be at least one: remove duplicates, or leave keys out")
    if len(read) > MOST_KEYS:
        raise Invalid(f"{name} has more than {MOST_KEYS:,} keys: group by a coarser expression, or leave keys out")
    return read
