"""One column of an answer: values, intervals, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from discreet.query.statistics.statistic import Drawn
from discreet.query.totals import Floats

Values = list[Any]
_LISTS = ("values", "raw", "widths", "ends", "few", "tidy", "summed")  # parts that may have an item for each row


@final
@frozen(eq=False, slots=False)
class OutputColumn:
    """One output column: values, raw noisy values where they differ, half-widths (one where all are equal), limits, how it is drawn.

    Intervals are computed on demand, from half-widths or from `ends`, pairs that a mechanism chose. A value is None and marked in `few`
    where its group has too few rows. With grouping sets, a column may have `tidy` values beside the unbiased ones, which claim no interval,
    and a key's column marks the rows that are sums over it (`summed`), where it is NULL.
    """

    name: str
    values: Values
    raw: Values | None = None
    widths: float | Values | None = None
    least: float | None = None
    most: float | None = None
    drawn: Drawn = "bar"
    ends: list[Any] | None = None
    few: list[bool] | None = None
    tidy: Values | None = None
    summed: list[bool] | None = None

    @cached_property
    def low(self) -> Values | None:
        """The lower ends of the intervals."""
        return self._ends(-1)

    @cached_property
    def high(self) -> Values | None:
        """The upper ends."""
        return self._ends(1)

    def _ends(self, sign: int) -> Values | None:
        if self.ends is not None:
            return [None if pair is None else pair[sign > 0] for pair in self.ends]
        if self.widths is None:
            return None
        centres = self.values  # clipped, unless they add up: an interval around a raw count below 0 could be empty
        widths = self.widths if isinstance(self.widths, list) else [self.widths] * len(centres)
        least, most = -math.inf if self.least is None else self.least, math.inf if self.most is None else self.most
        return [None if c is None or w is None else _end(c, w, sign, least, most) for c, w in zip(centres, widths, strict=True)]

    def taken(self, rows: Sequence[int]) -> OutputColumn:
        """Some of the rows, in this order."""
        lists: dict[str, Any] = {part: [of[i] for i in rows] for part in _LISTS if isinstance(of := getattr(self, part), list)}
        return evolve(self, **lists)

    def without(self, few: Sequence[bool]) -> OutputColumn:
        """The column without what it says about groups with too few rows."""

        def kept(values: Any) -> Any:
            return [None if hidden else one for one, hidden in zip(values, few, strict=True)] if isinstance(values, list) else values

        return evolve(self, **{part: kept(getattr(self, part)) for part in _LISTS if part != "summed"} | {"few": list(few)})


def _end(centre: float, width: float, sign: int, least: float, most: float) -> float:
    """One end of an interval, cut at the limits.

    A value beyond a limit was not clipped: cells that add up are not. Its interval is not cut on that side, and on the other side it
    reaches the limit at least.
    """
    if sign < 0:
        return min(max(centre - width, least if centre >= least else -math.inf), most)
    return max(min(centre + width, most if centre <= most else math.inf), least)


def finite(values: Floats) -> Values:
    """Plain floats, and None for what is not finite."""
    listed = list(values.tolist())
    return listed if np.isfinite(values).all() else [value if math.isfinite(value) else None for value in listed]


def bounded(name: str, values: Values, raw: Values, widths: Floats, least: float = -math.inf, most: float = math.inf) -> OutputColumn:
    """A column with intervals, in its most compact form."""
    if math.isfinite(most - least):
        widths = np.where(np.isinf(widths), most - least, widths)  # it may be anywhere between its limits
    equal = len(widths) > 0 and np.isfinite(widths[0]) and (widths == widths[0]).all()
    low, high = (None if math.isinf(end) else end for end in (least, most))
    same = raw is values or raw == values
    return OutputColumn(name, values, None if same else raw, float(widths[0]) if equal else finite(widths), low, high)


def joined(columns: Sequence[OutputColumn]) -> OutputColumn:
    """Columns of the same name, one below the other."""

    def below(part: str, missing: Callable[[OutputColumn], Values]) -> Values | None:
        found = [(column, getattr(column, part)) for column in columns]
        if all(values is None for _, values in found):
            return None
        listed = [missing(c) if one is None else one if isinstance(one, list) else [one] * len(c.values) for c, one in found]
        return [value for part in listed for value in part]

    def nothing(column: OutputColumn) -> Values:
        return [None] * len(column.values)

    return evolve(
        columns[0],
        values=[value for column in columns for value in column.values],
        raw=below("raw", lambda column: column.values),
        widths=below("widths", nothing),
        ends=below("ends", nothing),
        few=below("few", lambda column: [False] * len(column.values)),
        tidy=below("tidy", nothing),
        summed=below("summed", lambda column: [False] * len(column.values)),
    )
