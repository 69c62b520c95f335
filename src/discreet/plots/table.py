"""Released columns as an aligned text table: values with their half-widths, safe to print whatever the keys contain."""

from __future__ import annotations

import datetime
import math
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, final

from attrs import frozen

from discreet.plots.bins import Bins

_LONGEST = 40  # characters of a key that are shown
_SAMPLED = 200  # rows that decide how a column is formatted
_LAST = 5  # rows at the end that are shown where some before them are not
NO_GROUP, NO_ROWS = "(no group is large enough to be shown)", "(no rows)"
TOO_SMALL = "~"
FORMATS = (".png", ".svg", ".pdf")  # of plot files; here, because this module loads without matplotlib
TOO_FEW, TOTAL = "too few", "Total"
TOO_FEW_LEGEND = f"{TOO_FEW}: the noisy number of rows is not clear of its noise, or an interval has neither end, so no value is shown"
LEGEND = f"{TOO_SMALL} the interval contains 0: the answer may be noise alone"
NO_LOWER, NO_UPPER = "no lower end", "no upper end"
NO_END_LEGEND = (
    f"{NO_LOWER}, {NO_UPPER}: the interval goes on to the largest numbers; more data, a larger epsilon, declared bounds or a profile end it"
)


@final
@frozen(eq=False, slots=False)
class Series:
    """One column to display. A key has no error; any other column may have an interval for each row."""

    name: str
    values: Sequence[Any]
    low: Sequence[Any] | None = None
    high: Sequence[Any] | None = None
    is_key: bool = False
    is_place: bool = False  # a place on an axis, such as a mean, and not an amount counted from 0
    bins: Bins | None = None  # of a key that rounds numbers
    measures: str = ""  # what it measures, in words
    of: str = ""  # the column that it was computed from, and whose unit it has
    few: Sequence[bool] | None = None  # whether a row has no value because its group is too small for it
    reach: float = math.inf  # the largest number there is: an interval that ends there, or at its negative, has no end
    tidy: Sequence[Any] | None = None  # values beside the unbiased ones that are nowhere negative and add up
    summed: Sequence[bool] | None = None  # of a key: whether a row is a sum over all its values, which is called Total
    total_column: str = ""  # of a key that is NULL in groups too: the column of exports that tells these from totals

    def ends(self, row: int) -> tuple[float, float] | None:
        """The interval of a row, if it has one."""
        low, high = (None, None) if self.low is None or self.high is None else (self.low[row], self.high[row])
        return None if low is None or high is None else (float(low), float(high))

    def is_faint(self, row: int) -> bool:
        """Whether the interval contains 0, so that the answer may be noise alone."""
        ends = self.ends(row)
        return ends is not None and ends[0] <= 0 <= ends[1] and ends[0] < ends[1]

    def is_open(self, row: int) -> bool:
        """Whether the interval goes on to the largest numbers, upwards or downwards."""
        ends = self.ends(row)
        return ends is not None and (ends[0] == -self.reach or ends[1] == self.reach)

    @cached_property
    def digits(self) -> int:
        """The number of decimals for all rows: as many as show two significant figures of the median error."""
        sampled = range(min(len(self.values), _SAMPLED))
        if all(isinstance(self.values[row], int | None) for row in sampled):
            return 0  # whole numbers stay whole
        halves = sorted((ends[1] - ends[0]) / 2 for row in sampled if (ends := self.ends(row)) and ends[0] < ends[1])
        return decimals(halves[len(halves) // 2]) if halves else 2

    @property
    def to_the_right(self) -> bool:
        """Whether it is right-aligned, as numbers are."""
        return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in self.values[:100])


@final
@frozen
class Cell:
    """One cell of a table: a value and its error."""

    value: str
    error: str = ""
    faint: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (self.value, self.error, TOO_SMALL if self.faint else "") if part)


def format_cell(series: Series, row: int) -> Cell:
    """One cell, with as many digits as the errors of its column justify; no error is shown as 0.

    >>> str(format_cell(Series("n", [1234.567], [1222.2], [1246.9]), 0)), str(format_cell(Series("n", [3], [0.0], [14.5]), 0))
    ('1,235 ± 12', '3 (0 … 14) ~')
    >>> str(format_cell(Series("highest", [1e9], [116.0], [2.0**60], reach=2.0**60), 0))
    '1,000,000,000 (116 … no upper end)'
    """
    value, ends = series.values[row], series.ends(row)
    if value is None and series.few is not None and series.few[row]:
        return Cell(TOO_FEW)
    if ends is None or isinstance(value, str) or value is None:
        return Cell(format_value(value, grouped=not series.is_key))
    if series.is_open(row):
        low = NO_LOWER if ends[0] == -series.reach else _rounded(ends[0], series.digits)
        high = NO_UPPER if ends[1] == series.reach else _rounded(ends[1], series.digits)
        return Cell(_rounded(value, series.digits), f"({low} … {high})", series.is_faint(row))
    return Cell(_rounded(value, series.digits), _spread(value, *ends, series.digits), series.is_faint(row))


def _spread(value: float, low: float, high: float, digits: int) -> str:
    half = (high - low) / 2
    if not half and isinstance(value, int) and value > 0:
        return "± 0"  # a count whose noise is 0 with this confidence
    if not half:
        return "(clipped)"  # noise moved it out of its range, and it was clipped: its interval is empty, not certain
    if abs((low + high) / 2 - value) <= half / 50:  # a clipped value is not the centre of its interval
        return f"± {max(half, 10.0**-digits):,.{digits}f}"
    ends = [_rounded(end, digits) for end in (low, high)]
    return f"({' … '.join(ends if ends[0] != ends[1] else [_rounded(end, decimals(half)) for end in (low, high)])})"


def decimals(half: float) -> int:
    """The number of decimals that shows two significant figures of an error; 0 for errors of ten or more.

    >>> decimals(346.0), decimals(3.4), decimals(0.0087), decimals(0.0)
    (0, 1, 4, 2)
    """
    if not math.isfinite(half) or half <= 0:
        return 2
    return min(max(0, 1 - math.floor(math.log10(half))), 12)


def _rounded(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text  # no −0


def format_value(value: Any, grouped: bool = False) -> str:
    """A value without an error; text is made safe to print, and truncated if it is long.

    >>> format_value(2026), format_value(1234567.0, grouped=True), format_value(None), format_value("a" + chr(27) + "[31mb")
    ('2026', '1,234,567', '–', 'a\\\\x1b[31mb')
    """
    match value:
        case None:
            return "–"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}" if grouped else str(value)
        case float():
            return f"{value:,.7g}" if grouped else f"{value:.7g}"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.date():
            return value.isoformat()
    return _safe(str(value))


def printable(text: str) -> str:
    """The text with control characters escaped: nothing moves the cursor, changes colours or reverses the writing direction."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _safe(text: str) -> str:
    shown = printable(text[: _LONGEST + 1])
    return shown if len(text) <= _LONGEST else shown[:_LONGEST] + "…"


def width(text: str) -> int:
    """The number of terminal cells that a text takes."""
    if max(text, default="") < "\u0300":  # before the first combining character, and the first wide one
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _padded(text: str, size: int, right: bool) -> str:
    blanks = " " * (size - width(text))
    return blanks + text if right else text + blanks


def shown_rows(rows: int, most: int, last: int = _LAST) -> tuple[range, range]:
    """Which rows are shown if at most so many are: the first, and the `last` of all, for the last may be the grand total.

    >>> shown_rows(3, 60), shown_rows(63, 60)
    ((range(0, 3), range(3, 3)), (range(0, 55), range(58, 63)))
    """
    end = 0 if rows <= most else min(last, most // 2)
    return range(min(rows, most) - end), range(rows - end, rows)


def not_shown(rows: int, most: int) -> str:
    """The line that stands for the rows between the first and the last."""
    return f"… {rows - most:,} {'row is' if rows == most + 1 else 'rows are'} not shown …"


def text_table(columns: Sequence[Series], rows: int, most: int = 60, empty: str = NO_GROUP) -> str:
    """The table as aligned lines: at most `most` rows, the first and the last few, and `empty` if there are none.

    >>> print(text_table([Series("dept", ["er", "ward"], is_key=True), Series("n", [120, 9], [110, -1], [130, 19])], 2))
    dept  n
    ────  ────────
    er    120 ± 10
    ward    9 ± 10  ~
    """
    first, last = shown_rows(rows, most)
    blocks = [_block(series, [*first, *last]) for series in columns]
    lines = ["  ".join(parts).rstrip() for parts in zip(*blocks, strict=True)]
    if rows > most:
        lines.insert(2 + len(first), not_shown(rows, most))  # below the names and the rule
    return "\n".join(lines if rows else [*lines, empty])


def _block(series: Series, rows: Sequence[int]) -> Iterator[str]:
    """The lines of one column, all of the same width: its name, a rule, its cells."""
    cells = [format_cell(series, row) for row in rows]
    right = series.to_the_right and not series.is_key
    value = max((width(c.value) for c in cells), default=0)
    error = max((width(c.error) for c in cells), default=0)
    mark = any(c.faint for c in cells)
    inner = value + (1 + error if error else 0)
    name = _safe(series.name)
    size = max(width(name), inner)
    yield _padded(name, size, right and not error) + ("   " if mark else "")
    yield "─" * size + ("   " if mark else "")
    for c in cells:
        text = _padded(c.value, value, right) + (f" {_padded(c.error, error, False)}" if error else "")
        yield _padded(text, size, right and not error) + ((f"  {TOO_SMALL}" if c.faint else "   ") if mark else "")
