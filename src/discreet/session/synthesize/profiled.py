"""The domains of a synthetic table's columns from a profile: its categories, and bins that hold about equally many rows."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Sequence

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.session.synthesize.domains import CATEGORIES, Domains
from discreet.session.synthesize.edges import Edge
from discreet.tables.cells_found import cells_found
from discreet.tables.column import ColumnMetadata
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind, Value
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.table import Table

_VISIBLE = 3.0  # standard deviations of noise that a bin should have, and values beyond those that are clear
_CLEAR = 4.5  # standard deviations above 0 from which on a cell is clear of noise
_ONE_SIDED = 1.645  # standard deviations: a bound that holds with probability 0.95
_ZERO = datetime.date.min.toordinal()


def profiled_domains(table: Table, bins: int) -> Domains:
    """What a table's profile tells about the columns whose values and bounds are not declared."""
    columns = () if table.profile is None else table.profile.columns
    known = {column.name: column for column in table.columns}
    filled = [one for one in columns if (about := known.get(one.name)) is not None and about.kind is one.kind and _fills(one, about)]
    return _domains(filled, bins)


def discovered_domains(profile: TableProfile, wanted: Collection[str], bins: int) -> Domains:
    """What a profile that was bought for a synthetic table tells about the columns that need it, and the limit of rows."""
    return evolve(_domains([one for one in profile.columns if one.name in wanted], bins), rows=profile.limit)


def _fills(found: ColumnProfile, column: ColumnMetadata) -> bool:
    """Whether the bounds and keys of a column are those that the profile filled in."""
    return found.declared is None and column.bounds is None and column.keys in (None, found.keys)


def _domains(columns: Sequence[ColumnProfile], bins: int) -> Domains:
    values: dict[str, tuple[Value, ...]] = {}
    edges: dict[str, tuple[Edge, ...]] = {}
    beyond: dict[str, float] = {}
    for column in columns:
        if not column.learnt:
            continue
        if column.histogram is None:
            values[column.name] = tuple(one.value for one in column.values or () if one.value is not None)[:CATEGORIES]
        else:
            kept = bin_edges(column.histogram, bins)
            if len(kept) > 2 or _is_single(column.histogram, kept[0], kept[1]):  # of one wide bin alone, rows would say nothing
                edges[column.name] = _as_edges(kept, column)
                beyond[column.name] = _share_beyond(column.histogram, kept[0], kept[-1])
    return Domains({name: found for name, found in values.items() if found}, {}, None, edges, beyond)


# ── bins ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def bin_edges(histogram: Histogram, bins: int) -> list[int]:
    """Which edges of a histogram to keep, so that bins hold about equally many rows and none is mostly noise.

    Bins end where values were found: the bounds of a histogram reach further, over cells that show none. A whole number that stands out
    is a bin by itself, so that its rows are not spread over its neighbours. All are where that makes no more than twice as many bins.
    """
    counts = np.array(histogram.counts)
    first, last = cells_found(counts, _CLEAR * histogram.sd, histogram.sd, likely=_VISIBLE) or (0, len(counts) - 1)
    few = histogram.single_numbers and last - first < 2 * bins
    each = 0.0 if few else float(np.maximum(counts[first : last + 1], 0).sum()) / bins
    out = max(each, _VISIBLE * histogram.sd)
    kept, start = [], first
    for i in range(first, last + 1):
        if counts[i] >= out and _is_single(histogram, i, i + 1):
            kept += [*_starts(counts, start, i, each, histogram.sd), i]
            start = i + 1
    return [*kept, *_starts(counts, start, last + 1, each, histogram.sd), last + 1]


def _starts(counts: NDArray[np.float64], first: int, end: int, each: float, sd: float) -> list[int]:
    """Where the bins of some neighbouring cells start: each holds so many rows, and clearly more than the noise of its cells."""
    starts: list[int] = []
    held, enough = 0.0, 0.0
    for i in range(first, end):
        if held >= enough:
            starts.append(i)
            held, many = 0.0, 0
        held, many = held + float(counts[i]), many + 1
        enough = max(each, _VISIBLE * sd * math.sqrt(many))
    if held < enough / 2 and len(starts) > 1:  # a last bin that is mostly empty joins the one before
        starts.pop()
    return starts


def _share_beyond(histogram: Histogram, first: int, end: int) -> float:
    """A bound on the share of values outside the bins, with confidence 0.95."""
    outer = (*histogram.counts[:first], *histogram.counts[end:])
    rows = histogram.below + histogram.above + sum(outer)
    sd = math.hypot(histogram.outside_sd, histogram.sd * math.sqrt(len(outer)))
    return min((max(rows, 0.0) + _ONE_SIDED * sd) / max(histogram.total, 1.0), 1.0)


def _is_single(histogram: Histogram, first: int, end: int) -> bool:
    """Whether the cells from one edge to another hold one whole number."""
    return histogram.whole and histogram.edges[end] - histogram.edges[first] == 1


def _as_edges(kept: list[int], column: ColumnProfile) -> tuple[Edge, ...]:
    histogram = column.histogram
    assert histogram is not None
    ends = [histogram.edges[i] for i in kept]
    if histogram.whole:
        ends[-1] -= 1  # the last bin includes its end
    if column.kind is Kind.DATE:
        return tuple(datetime.date.fromordinal(min(max(int(end), _ZERO), datetime.date.max.toordinal())) for end in ends)
    return tuple(ends)
