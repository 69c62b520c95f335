"""A table's profile: what was released about every column in one purchase, and used by later questions at no further cost."""

from __future__ import annotations

import datetime
import math
from itertools import pairwise
from typing import Any, final

import numpy as np
from attrs import frozen

from discreet import exact
from discreet.tables.column import Bounds
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind, Value
from discreet.tables.type_found import TypeFound

_CLEAR = 4.5  # standard deviations above 0 from which on a count is clear of noise

_DAYS = datetime.date.max.toordinal() + 1  # the last edge of dates


@final
@frozen
class ValueCount:
    """A value and its noisy count: of rows for declared values, of units for values that were found."""

    value: Value | None
    count: float


@final
@frozen
class ColumnProfile:
    """What was released about one column: a histogram of numbers and dates, or the values that enough units have.

    `declared` are the bounds that values were clipped to when they were counted. `sd` is the standard deviation of the noise on each count
    of `values`; `least` is about the number of units that a value needed in order to be found.
    """

    name: str
    kind: Kind
    histogram: Histogram | None = None
    values: tuple[ValueCount, ...] | None = None
    sd: float = 0.0
    least: float = 0.0
    declared: Bounds | None = None
    zeros: float | None = None  # the noisy number of zeros, where that was counted
    type_found: TypeFound | None = None  # where nobody declared a type: why it is of this kind

    @property
    def learnt(self) -> bool:
        """Whether enough was found for later questions to use it."""
        if self.histogram is not None:
            return self.histogram.learnt
        return bool(self.values)

    @property
    def bounds(self) -> Bounds | None:
        """The bounds that later questions use."""
        return (self.histogram.low, self.histogram.high) if self.histogram is not None and self.histogram.learnt else None

    @property
    def keys(self) -> tuple[Value | None, ...] | None:
        """The values that later questions group by: those found, or of a few whole numbers those clearly present."""
        if self.values is not None:
            return tuple(one.value for one in self.values) or None
        histogram = self.histogram
        if histogram is None or self.kind is not Kind.INTEGER or not histogram.learnt:
            return None
        cells = zip(pairwise(histogram.edges), histogram.counts, strict=True)
        clear = [(low, high) for (low, high), count in cells if count > _CLEAR * histogram.sd]
        if not histogram.whole or any(high - low > 1 for low, high in clear):
            return None  # some of its values cannot be told apart
        present = [int(low) for low, _ in clear]
        missing: list[Value | None] = [None] if histogram.missing > _CLEAR * histogram.sd else []
        return (*present, *missing) if present else None


@final
@frozen
class TableProfile:
    """What was released about a table. `rows_per_unit` has, for each limit, the noisy number of units with so many rows and no fewer."""

    table: str
    columns: tuple[ColumnProfile, ...]
    rows: float
    units: float
    sd: float  # of rows and units
    limit: int | None  # of rows per unit; None where each unit has one
    rows_per_unit: tuple[tuple[int, float], ...]
    digest: str  # of its receipt
    paid: str = ""  # what it cost

    def column(self, name: str) -> ColumnProfile | None:
        """What was released about a column."""
        return next((one for one in self.columns if one.name == name), None)

    def most_rows_seen(self, limit: int | None = None) -> int | None:
        """One step above the limit, and above the numbers of rows that clearly more units have than noise alone would show."""
        most = (self.limit if limit is None else limit) or 1
        seen = [size for size, count in self.rows_per_unit if count > _CLEAR * self.sd]
        last = max([most, *seen])
        return min((size for size, _ in self.rows_per_unit if size > last), default=last) if self.rows_per_unit else None

    @property
    def knows_lost_rows(self) -> bool:
        """Whether rows per unit were counted, and no units have more than the largest number that is told apart."""
        return bool(self.rows_per_unit) and self.rows_per_unit[-1][1] <= _CLEAR * self.sd

    def lost_rows(self, limit: int | None = None) -> tuple[float, float]:
        """About how many rows down-weighting takes away at a limit, and the standard deviation of that estimate.

        Units with more rows than `most_rows_seen` are assumed away: counted where there are none, they would add much noise.
        """
        most, seen = self.limit if limit is None else limit, self.most_rows_seen(limit)
        if most is None or seen is None:
            return 0.0, 0.0
        over = [(size - most, count) for size, count in self.rows_per_unit if most < size <= seen]
        return max(sum(far * count for far, count in over), 0.0), self.sd * math.sqrt(sum(far**2 for far, _ in over))

    # ── as plain values ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "table": self.table,
            "columns": [_column_json(one) for one in self.columns],
            "rows": self.rows,
            "units": self.units,
            "sd": self.sd,
            "limit": self.limit,
            "rows_per_unit": [list(pair) for pair in self.rows_per_unit],
        }

    @classmethod
    def from_json(cls, said: Any, digest: str, paid: str) -> TableProfile:
        """Read back what `to_json` gave."""
        rows, units, sd = (float(said[name]) for name in ("rows", "units", "sd"))
        if not all(map(math.isfinite, [rows, units, sd])) or not isinstance(said["table"], str):
            raise ValueError
        sizes = tuple((int(size), float(count)) for size, count in said["rows_per_unit"])
        limit = None if said["limit"] is None else int(said["limit"])
        return cls(said["table"], tuple(map(_column_of, said["columns"])), rows, units, sd, limit, sizes, digest, paid)


def best_limit(sizes: tuple[tuple[int, float], ...], sd: float, noise: float) -> int:
    """The limit of rows per unit with the least squared error of a count: noise for each row of the limit, and rows taken away."""
    limits = np.array([size for size, _ in sizes], float)
    counts = np.array([max(count, 0.0) for _, count in sizes])
    clear = np.where(counts > _CLEAR * sd, counts, 0.0)  # of noise alone, the largest limit would look used
    lost = np.array([(np.maximum(limits - limit, 0) * clear).sum() for limit in limits])
    return int(limits[int(np.argmin((limits * noise) ** 2 + lost**2))])


def _column_json(column: ColumnProfile) -> dict[str, Any]:
    found = {} if column.type_found is None else {"type_found": column.type_found.to_json()}  # profiles of declared types have none
    return found | {
        "name": column.name,
        "kind": column.kind.value,
        "histogram": None if column.histogram is None else column.histogram.to_json(),
        "values": None if column.values is None else [[_plain(one.value), one.count] for one in column.values],
        "sd": column.sd,
        "least": column.least,
        "declared": None if column.declared is None else [str(end) for end in column.declared],
        "zeros": column.zeros,
    }


def _column_of(said: Any) -> ColumnProfile:
    kind = Kind(said["kind"])
    values = said["values"]
    found = None if values is None else tuple(ValueCount(_value(value, kind), float(count)) for value, count in values)
    histogram = None if said["histogram"] is None else Histogram.from_json(said["histogram"])
    low_high = said["declared"]
    declared = None if low_high is None else (exact.rational(low_high[0]), exact.rational(low_high[1]))
    days = () if kind is not Kind.DATE or histogram is None else histogram.edges
    if not isinstance(said["name"], str) or any(day.denominator != 1 or not 1 <= day <= _DAYS for day in days):
        raise ValueError
    zeros = None if said["zeros"] is None else float(said["zeros"])
    typed = TypeFound.from_json(said["type_found"]) if "type_found" in said else None
    return ColumnProfile(said["name"], kind, histogram, found, float(said["sd"]), float(said["least"]), declared, zeros, typed)


def _plain(value: Value | None) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _value(value: Any, kind: Kind) -> Value | None:
    return None if value is None else kind.read(value)
