"""The domains of a synthetic table's columns from a profile: its categories, and bins that hold about equally many rows."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence

from attrs import evolve

from discreet.session.synthesize.domains import CATEGORIES, Domains
from discreet.session.synthesize.edges import Edge
from discreet.tables.column import ColumnMetadata
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind, Value
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.table import Table

_VISIBLE = 3.0  # standard deviations of noise that a bin should have
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
    for column in columns:
        if not column.learnt:
            continue
        if column.histogram is None:
            values[column.name] = tuple(one.value for one in column.values or () if one.value is not None)[:CATEGORIES]
        elif column.histogram.single_numbers and len(column.histogram.counts) <= 2 * bins and column.kind is Kind.INTEGER:
            values[column.name] = _whole_numbers(column)
        else:
            kept = bin_edges(column.histogram, bins)
            if len(kept) > 2:  # of one bin alone, rows would say nothing
                edges[column.name] = _as_edges(kept, column)
    return Domains({name: found for name, found in values.items() if found}, {}, None, edges)


def _whole_numbers(column: ColumnProfile) -> tuple[int, ...]:
    """From the least to the greatest whole number that is clearly there; bounds may reach further, and values are not invented."""
    clear = [key for key in column.keys or () if isinstance(key, int)]
    return tuple(range(min(clear), max(clear) + 1)) if clear else ()


def bin_edges(histogram: Histogram, bins: int) -> list[int]:
    """Which edges of a histogram to keep, so that bins hold about equally many rows and none is mostly noise."""
    counts = [max(count, 0.0) for count in histogram.counts]
    each = max(sum(counts) / bins, _VISIBLE * histogram.sd)
    kept, held = [0], 0.0
    for i, count in enumerate(counts):
        held += count
        if held >= each and i + 1 < len(counts):
            kept.append(i + 1)
            held = 0.0
    if held < each / 2 and len(kept) > 1:  # a last bin that is mostly empty joins the one before
        kept.pop()
    return [*kept, len(counts)]


def _as_edges(kept: list[int], column: ColumnProfile) -> tuple[Edge, ...]:
    histogram = column.histogram
    assert histogram is not None
    ends = [histogram.edges[i] for i in kept]
    if histogram.whole and ends[-1] - ends[-2] > 1:
        ends[-1] -= 1  # the last bin includes its end
    if column.kind is Kind.DATE:
        return tuple(datetime.date.fromordinal(min(max(int(end), _ZERO), datetime.date.max.toordinal())) for end in ends)
    return tuple(ends)
