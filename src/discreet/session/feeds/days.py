"""What comes out of a daily feed: the rows people see, and what the ledger keeps of each batch of days."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.extras import missing
from discreet.plots.page import html_table
from discreet.plots.table import NO_ROWS, Series, text_table
from discreet.session.receipts import price


@final
@frozen
class Opened:
    """What is kept of a feed that was paid for: its receipt."""

    receipt: dict[str, Any]

    def to_text(self) -> str:
        """One line of JSON."""
        return json.dumps(self.receipt, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str, repeated: bool = True) -> Opened:
        """Read it back."""
        return cls(json.loads(text))


@final
@frozen
class Batch:
    """What is kept of some days in a row: what was measured of each, in steps of its grid, and the running totals made of it."""

    first: int
    measured: tuple[int, ...]
    totals: tuple[int | float, ...]

    def to_text(self) -> str:
        """One line of JSON."""
        kept = {"first": self.first, "measured": self.measured, "totals": self.totals}
        return json.dumps(kept, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_text(cls, text: str, repeated: bool = True) -> Batch:
        """Read it back."""
        try:
            found = json.loads(text)
            return cls(found["first"], tuple(found["measured"]), tuple(found["totals"]))
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not a batch of days") from None


@final
@frozen(eq=False, repr=False)
class Days:
    """The days that were released so far: running totals and windows with their errors. Everything here is public."""

    every: str
    first_days: Sequence[datetime.date]
    totals: Sequence[int | float]
    errors: Sequence[float]  # half-widths, one for each day
    windows: Mapping[int, Sequence[int | float]]  # by length
    window_errors: Mapping[int, Sequence[float]]
    confidence: float
    receipt: dict[str, Any] = field(repr=False)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each day: its date, the total since the start, how far off that may be, and the same for each window."""
        columns = self.to_columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns by name, as data frames take them."""
        found: dict[str, list[Any]] = {self.every: list(self.first_days), "total": list(self.totals), "total_error": list(self.errors)}
        for length, values in self.windows.items():
            found |= {f"last_{length}": list(values), f"last_{length}_error": list(self.window_errors[length])}
        return found

    def __len__(self) -> int:
        return len(self.totals)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def series(self) -> list[Series]:
        """The columns as they are shown."""
        windows = [_series(f"last_{n}", values, self.window_errors[n]) for n, values in self.windows.items()]
        return [Series(self.every, self.first_days, is_key=True), _series("total", self.totals, self.errors), *windows]

    @property
    def small_print(self) -> list[str]:
        """How sure, and what was paid."""
        sure = f"± holds {self.confidence * 100:.4g} % of the time for each number, for the noise around the bounded totals"
        delta = Fraction(self.receipt["delta"])
        paid = f"ε = {price(Fraction(self.receipt['epsilon']))}" + (f", δ = {price(delta)}" if delta else "")
        return [sure, f"all {self.every}s of this feed together cost {paid}, once"]

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=NO_ROWS), "", *self.small_print])

    def _repr_html_(self) -> str:
        return html_table(self.series, len(self), self.small_print, empty=NO_ROWS)

    def plot(self, path: str | os.PathLike[str] | None = None, column: str = "total") -> Any:
        """Draw the running total, or a window such as last_7, with its band: a figure, or a file if a path is given."""
        try:
            from discreet.plots.bars import draw_column
        except ImportError:
            raise missing("matplotlib") from None
        key, *drawn = self.series
        chosen = [one for one in drawn if one.name == column]
        if not chosen:
            raise Invalid(f"there is no column of that name; there are {', '.join(one.name for one in drawn)}")
        return draw_column([key], chosen[0], len(self), f"± {self.confidence * 100:.4g} % of the time, each · {self.small_print[1]}", path)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise missing("pandas") from None
        return pandas.DataFrame(self.to_columns())

    def to_polars(self) -> Any:
        """A Polars DataFrame."""
        try:
            import polars
        except ImportError:
            raise missing("polars") from None
        return polars.DataFrame(self.to_columns(), strict=False)


def _series(name: str, values: Sequence[Any], errors: Sequence[float]) -> Series:
    ends = list(zip(values, errors, strict=True))
    return Series(name, values, [value - error for value, error in ends], [value + error for value, error in ends])
