"""Cells in which a column's values are counted: a coarse grid for the whole range of its type, then finer ones where values were found."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from itertools import pairwise
from typing import final

from attrs import frozen

from discreet.query.relation.expr import Call, Column, Expr, Literal, call
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind, Value

CELLS = 64  # of the finest grid, at most
_SMALLEST, _LARGEST = -20, 60  # powers of two: the ends of the coarse grid for numbers
_YEARS = range(1900, 2101)  # the coarse grid for dates
_LIKELY = 2.5  # standard deviations of noise: so many rows beyond an end are looked for there
_STEPS = range(-5, 11)  # cells beyond an end: powers of two that its distance in widths has
_FURTHEST = {  # edges that can be written
    Kind.REAL: (-(Fraction(2) ** 300), Fraction(2) ** 300),
    Kind.INTEGER: (-(Fraction(2) ** 62), Fraction(2) ** 62),
    Kind.DATE: (Fraction(1), Fraction(datetime.date.max.toordinal())),
}


@final
@frozen
class Grid:
    """Cells between increasing edges; the first code is for values below them, then one for each cell, above them, and NULL.

    The last edge belongs to the last cell, except for whole numbers and dates, of which each cell ends one below the next edge. With
    `zero` the value 0 has a code of its own, after that of NULL.
    """

    edges: tuple[Fraction, ...]
    kind: Kind
    zero: bool = False

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers or days."""
        return self.kind is not Kind.REAL

    @property
    def cells(self) -> int:
        """The number of cells between the edges."""
        return len(self.edges) - 1

    @property
    def codes(self) -> int:
        """The number of codes."""
        return self.cells + 3 + self.zero

    @property
    def missing(self) -> int:
        """The code of NULL."""
        return self.cells + 2

    def code(self, name: str) -> Expr:
        """The code of a row's value as an expression; never NULL."""
        column, top = Column(name), self.edges[-1]
        above = call("greater", column, self._literal(top - 1 if self.whole else top))
        special: list[Expr] = [call("is_null", column), Literal(self.missing), above, Literal(self.cells + 1)]
        if self.zero:
            special += [call("equal", column, Literal(0) if self.kind is Kind.INTEGER else Literal(Fraction(0))), Literal(self.codes - 1)]
        return call("case", *special, self._between(column, 0, self.cells))

    def _between(self, column: Column, first: int, last: int) -> Expr:
        """How many of the edges from the first to the one before the last are at most the value, by bisection."""
        if first == last:
            return Literal(first)
        middle = (first + last) // 2
        below: Call = call("less", column, self._literal(self.edges[middle]))
        return call("case", below, self._between(column, first, middle), self._between(column, middle + 1, last))

    def _literal(self, edge: Fraction) -> Literal:
        value: Value = edge
        if self.kind is Kind.INTEGER:
            value = int(edge)
        elif self.kind is Kind.DATE:
            value = datetime.date.fromordinal(int(edge))
        return Literal(value)


@final
@frozen
class Counts:
    """Noisy counts of a grid's codes, the standard deviation of the noise, and the count from which on a cell is clear of it."""

    counts: tuple[float, ...]
    sd: float
    clear: float


def coarse_grid(kind: Kind) -> Grid:
    """A grid for the whole range of a kind: powers of two of both signs, or years."""
    if kind is Kind.DATE:
        return Grid(tuple(Fraction(datetime.date(year, 1, 1).toordinal()) for year in _YEARS), kind)
    first = 0 if kind is Kind.INTEGER else _SMALLEST
    powers = [Fraction(2) ** power for power in range(first, _LARGEST + 1)]
    # a whole number below 0 lies in the cell that reaches inwards to the next power, so its ends are moved by one
    down = [1 - power if kind is Kind.INTEGER else -power for power in reversed(powers)]
    return Grid((*down, *powers), kind, zero=True)


def middle_grid(coarse: Grid, low: Fraction, high: Fraction, cells: int) -> Grid:
    """A grid of equal widths inside the range found."""
    return Grid(tuple(sorted(equal_edges(low, high, cells, coarse.whole))), coarse.kind)


def fine_grid(middle: Grid, found: Counts, body: tuple[int, int], cells: int) -> Grid:
    """A grid with the same ends: narrow cells in the body, where values were found, and octaves outside of it.

    Where rows seem to lie beyond an end, further cells reach out, each twice as wide as the one before. In the body each whole number has
    a cell where that fits; else half of the cells have equal widths and half are where most values are.
    """
    low, high, whole = middle.edges[body[0]], middle.edges[body[1] + 1], middle.whole
    edges = {middle.edges[0], middle.edges[-1], low, high} | _octaves(middle.edges[0], middle.edges[-1], low, high, whole)
    edges |= _beyond(middle, found)
    if whole and high - low <= CELLS:
        return Grid(tuple(sorted(edges | {low + i for i in range(int(high - low) + 1)})), middle.kind)
    edges |= equal_edges(low, high, max(cells // 2, 1), whole)
    within = list(zip(pairwise(middle.edges), found.counts[1:], strict=False))[body[0] : body[1] + 1]
    total = sum(max(count, 0.0) for _, count in within)
    for (a, b), count in within:
        share = cells / 2 * count / total if total else 0.0
        if share >= 2:
            edges |= equal_edges(a, b, 2 ** int(math.log2(share)), whole)
    return Grid(tuple(sorted(edges)), middle.kind)


def _beyond(middle: Grid, found: Counts) -> set[Fraction]:
    """Edges outside the middle grid, on the sides where it shows rows: the coarse grid misses rows that are spread over many cells."""
    low, high = middle.edges[0], middle.edges[-1]
    steps = [(high - low) * Fraction(2) ** power for power in _STEPS]
    edges: set[Fraction] = set()
    if found.counts[0] > _LIKELY * found.sd:
        edges |= {low - step for step in steps}
    if found.counts[middle.cells + 1] > _LIKELY * found.sd:
        edges |= {high + step for step in steps}
    first, last = _FURTHEST[middle.kind]
    return {Fraction(math.floor(edge)) if middle.whole else edge for edge in edges if first <= edge <= last}


def _octaves(low: Fraction, high: Fraction, inner_low: Fraction, inner_high: Fraction, whole: bool) -> set[Fraction]:
    """Powers of two between the ends, of both signs, outside of the body: tails are counted in few cells."""
    far = max(abs(low), abs(high))
    powers = {Fraction(2) ** power for power in range(math.floor(math.log2(far / 100)), math.ceil(math.log2(far)) + 1)} if far else set()
    edges = {edge for power in powers for edge in (power, -power) if low < edge < high and not inner_low < edge < inner_high}
    return {edge for edge in edges if not whole or edge.denominator == 1}


def equal_edges(low: Fraction, high: Fraction, parts: int, whole: bool) -> set[Fraction]:
    """The edges of cells of equal width, rounded to whole numbers where values are whole, else to few digits: people read them."""
    width = (high - low) / parts
    edges = [low + width * i for i in range(1, parts)]
    if whole:
        return {Fraction(math.floor(edge)) for edge in edges} | {low, high}
    step = Fraction(10) ** (math.floor(math.log10(width)) - 2)  # a hundredth of a width, or less
    return {round(edge / step) * step for edge in edges} | {low, high}


def bounded_grid(column: ColumnMetadata) -> Grid:
    """A grid between declared bounds."""
    assert column.bounds is not None
    (low, high), whole = column.bounds, column.kind is not Kind.REAL
    low, end = (Fraction(math.ceil(low)), Fraction(math.floor(high) + 1)) if whole else (low, high)
    parts = min(CELLS, int(end - low)) if whole else CELLS
    return Grid(tuple(sorted(equal_edges(low, end, max(parts, 1), whole))), column.kind)
