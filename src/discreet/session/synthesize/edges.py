"""Columns between given public edges: bins of any widths, such as the quantiles of a released histogram."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.session.synthesize.codes import evenly, literal, quoted
from discreet.tables.kind import Kind, Value

Edge: TypeAlias = Fraction | datetime.date  # and timestamps
MOST_EDGES = 1001
_START, _MICRO = datetime.datetime(1, 1, 1), datetime.timedelta(microseconds=1)


@final
@frozen
class Cut:
    """Numbers, dates or timestamps in bins between edges; the last code, if there is `missing`, is for NULL.

    A bin reaches from its edge up to the next one, and the last bin includes its end: of whole numbers or days it may be that one alone.
    Values beyond the edges belong to the nearest bin. Where NULL has no code, its row has the code −1 and is left out.

    >>> print(Cut("age", Kind.INTEGER, (Fraction(0), Fraction(18), Fraction(65), Fraction(120)), True).sql)
    CASE WHEN "age" IS NULL THEN 3 WHEN "age" < 18 THEN 0 WHEN "age" < 65 THEN 1 ELSE 2 END
    """

    name: str
    kind: Kind
    edges: tuple[Edge, ...]
    missing: bool

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.bins + self.missing

    @property
    def leaves_out(self) -> bool:
        """Whether rows may have no code."""
        return not self.missing

    @property
    def can_be_missing(self) -> bool:
        """Whether a code stands for no value."""
        return self.missing

    @property
    def sql(self) -> str:
        """The code of a row; never NULL."""
        column = quoted(self.name)
        cases = "".join(f" WHEN {column} < {self._written(edge)} THEN {i}" for i, edge in enumerate(self.edges[1:-1]))
        return f"CASE WHEN {column} IS NULL THEN {self.bins if self.missing else -1}{cases} ELSE {self.bins - 1} END"

    def decode(self, codes: NDArray[np.int64]) -> list[Value | float | None]:
        """Values spread evenly over their bins."""
        inside = np.minimum(codes, self.bins - 1)
        lows, widths = (np.array(side)[inside] for side in (self._numbers[:-1], self.widths))
        values = (lows + evenly(codes) * widths).tolist()
        return [None if code == self.bins else self._decoded(value, code) for code, value in zip(codes.tolist(), values, strict=True)]

    def codes(self, wanted: Any) -> list[int]:
        """The codes of a value, of several in a list, of None, or of all between (low, high); always whole bins."""
        if wanted is None and self.missing:
            return [self.bins]
        if isinstance(wanted, list | set | frozenset):
            return sorted({code for one in wanted for code in self.codes(one)})
        ends = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        try:
            low, high = (as_edge(self.kind, end, self.name) for end in ends)
        except ValueError:
            raise Invalid(f"ask {self.name} for a value, for several in a list, for a pair (low, high), or for None") from None
        if _number(low) > _number(high):
            raise Invalid(f"the range asked of {self.name} is empty: give the lower end first")
        inner = [_number(edge) for edge in self.edges[1:-1]]
        return list(range(bisect_right(inner, _number(low)), bisect_right(inner, _number(high)) + 1))

    def label(self, code: int) -> str:
        """A code as people read it."""
        if code == self.bins:
            return "(none)"
        low, high = self.edges[code : code + 2]
        return self._span(low, low if self._whole and self.widths[code] == 1 else high)

    @property
    def ends(self) -> str:
        """The range of the bins as people read it."""
        return self._span(self.edges[0], self.edges[-1])

    @property
    def middles(self) -> list[float]:
        """The middle of each bin, as a number."""
        if not self.kind.numeric:
            raise Invalid(f"{self.name} is no number: a mean needs one")
        half = 1 if self.kind is Kind.INTEGER else 0  # whole numbers end one before the next bin
        return [low + (width - half) / 2 for low, width in zip(self._numbers, self.widths, strict=False)]

    @property
    def widths(self) -> list[float]:
        """How wide each bin is; the last one of whole numbers or days includes its end."""
        closed = [0] * (self.bins - 1) + [int(self._whole)]
        return [high - low + one for low, high, one in zip(self._numbers, self._numbers[1:], closed, strict=False)]

    @property
    def spread(self) -> list[float]:
        """The standard deviation of values that are spread evenly over each bin: 0 where a bin is one whole number."""
        least = 1 if self._whole else 0
        return [sqrt((width**2 - least) / 12) for width in self.widths]

    def _span(self, low: Edge, high: Edge) -> str:
        said = [f"{float(edge):g}" if isinstance(edge, Fraction) else str(edge) for edge in (low, high)]
        return said[0] if low == high else "–".join(said)

    @property
    def _whole(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.DATE)

    @property
    def _numbers(self) -> list[float]:
        return [float(_number(edge)) for edge in self.edges]

    def _written(self, edge: Edge) -> str:
        if isinstance(edge, Fraction):
            return str(int(edge)) if self.kind is Kind.INTEGER else repr(float(edge))
        return literal(edge)

    def _decoded(self, number: float, code: int) -> Value | float:
        low, high = self.edges[code], self.edges[code + 1]
        match self.kind:
            case Kind.INTEGER:
                return min(max(int(number // 1), int(_number(low))), int(_number(high)))
            case Kind.DATE:
                return datetime.date.fromordinal(min(max(int(number), int(_number(low))), int(_number(high))))
            case Kind.TIMESTAMP:
                return _START + min(max(int(number), int(_number(low))), int(_number(high))) * _MICRO
            case _:
                return number


def _number(edge: Edge) -> Fraction:
    """An edge on a line: numbers as they are, dates as days, timestamps as microseconds."""
    if isinstance(edge, Fraction):
        return edge
    return Fraction((edge - _START) // _MICRO) if isinstance(edge, datetime.datetime) else Fraction(edge.toordinal())


def as_edge(kind: Kind | None, value: Any, name: str) -> Edge:
    """A value of a column as an edge."""
    if kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP):
        raise Invalid(f"{name} is no number, date or timestamp, so it has no edges: declare keys={{...}}")
    assert kind is not None
    read = kind.read(value, f"each edge of {name}")
    return read if isinstance(read, datetime.date) else Fraction(read)


def cut(name: str, kind: Kind | None, edges: Sequence[Any], missing: bool, *, found: bool = False) -> Cut:
    """Bins between edges as people or a profile give them, in ascending order; the last one that was `found` may repeat the one before."""
    if isinstance(edges, str) or not hasattr(edges, "__len__") or not 2 <= len(edges) <= MOST_EDGES:
        raise Invalid(f"the edges of {name} must be a list of 2 to {MOST_EDGES:,} values in ascending order, such as [0, 18, 65, 120]")
    read = tuple(as_edge(kind, edge, name) for edge in edges)
    numbers = [_number(edge) for edge in read]
    alone = found and kind in (Kind.INTEGER, Kind.DATE) and numbers[-1] == numbers[-2]  # the last bin is one whole number or day
    apart = numbers[:-1] if alone else numbers
    if any(low >= high for low, high in pairwise(apart)):
        raise Invalid(f"the edges of {name} must be different and in ascending order, such as [0, 18, 65, 120]")
    assert kind is not None
    if kind is Kind.REAL and len({float(number) for number in numbers}) < len(numbers):
        raise Invalid(f"two edges of {name} are the same as floating-point numbers: leave one out")
    return Cut(name, kind, read, missing)
