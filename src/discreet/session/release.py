"""What came out of a question: public for ever. Rows with error bars, the price, and a receipt that can be checked."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.table import LEGEND, NO_GROUP, NO_ROWS, Series, text_table
from discreet.run.execute import OTHER
from discreet.run.outcome import OutputColumn
from discreet.session.released import Released, Row


@final
@frozen(eq=False, repr=False, slots=False)
class Release(Released):
    """Answers with their errors. Everything here is public; none of it costs anything again.

    `rows` are plain Python values by output name; `intervals` has for each row and column the ends between which the exact answer of the
    bounded question lies with the stated confidence; `raw` keeps the noisy value beside one that was clipped to where it must lie.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = ("question",)

    columns: tuple[OutputColumn, ...]
    receipt: Receipt
    repeated: bool = field(default=False)

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def rows(self) -> list[Row]:
        """The answers, a dict for each row."""
        return self._rows([column.values for column in self.columns])

    @cached_property
    def raw(self) -> list[Row]:
        """The answers as the noise left them, before they were clipped."""
        return self._rows([column.values if column.raw is None else column.raw for column in self.columns])

    def _rows(self, columns: Sequence[Sequence[Any]]) -> list[Row]:
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    @cached_property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""
        return super().intervals

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The outputs that name groups."""
        asked = self.receipt.request
        grouped = {name for name, _ in asked["keys"]}
        return tuple(name for name, expr in asked["outputs"] if expr.get("is") == "Column" and expr.get("name") in grouped)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        keys = set(self.keys)
        return tuple(Series(c.name, c.values, c.low, c.high, c.name in keys, c.drawn == "point") for c in self.columns)

    @property
    def small_print(self) -> list[str]:
        """What goes below the table: how sure, how much was charged, and where that is recorded."""
        legend = [LEGEND] if any(s.is_faint(row) for s in self.series for row in range(min(len(self), 200))) else []
        return [*legend, *super().small_print]

    @property
    def sureness(self) -> list[str]:
        """How sure the intervals are, where there are any."""
        some = any(series.low is not None for series in self.series)
        said = "interval for the noise; it excludes bias from clipping and from contribution limits"
        return [f"± is a {self.confidence * 100:.4g} % {said}"] if some else []

    @property
    def empty(self) -> str:
        """What an empty table says: groups are too small only where they were found, which takes a δ, and none was left out afterwards."""
        asked = self.receipt.request
        return NO_ROWS if asked.get("having") is not None or asked.get("limit") == 0 or not self.delta else NO_GROUP

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=self.empty), "", *self.small_print])

    # ── keeping it ───────────────────────────────────────────────────────────────────────────────────────────────────

    def to_columns(self, intervals: bool = True) -> dict[str, list[Any]]:
        """The columns by name; with intervals, each that has one is followed by its ends, as name_low and name_high.

        Keys that are numbers or dates become texts where the group of all others, (other), is among them.
        """
        return {name: _of_one_type(values) for name, values in super().to_columns(intervals).items()}

    def answers(self) -> dict[str, Any]:
        """The columns as plain values."""
        return columns_to_json(self.columns)

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Release:
        """Read back what `answers` gave."""
        return cls(columns_from_json(answers), receipt, repeated)


def columns_to_json(columns: Sequence[OutputColumn]) -> dict[str, Any]:
    """Columns with their half-widths as plain values."""
    return {
        "columns": [
            {
                "name": c.name,
                "values": _plain(c.values),
                "raw": c.raw,
                "widths": c.widths,
                "least": c.least,
                "most": c.most,
                "drawn": c.drawn,
            }
            for c in columns
        ]
    }


def columns_from_json(said: Any) -> tuple[OutputColumn, ...]:
    """Read back what `columns_to_json` gave."""
    return tuple(
        OutputColumn(c["name"], _values(c["values"]), c["raw"], c["widths"], c["least"], c["most"], c["drawn"]) for c in said["columns"]
    )


def _of_one_type(values: list[Any]) -> list[Any]:
    if OTHER not in values or all(isinstance(value, str | None) for value in values):
        return values
    return [value if value is None else str(value) for value in values]


def _plain(values: list[Any]) -> list[Any]:
    """Values as JSON has them; dates and moments are tagged."""
    if not set(map(type, values)) & {datetime.date, datetime.datetime}:
        return values
    return [{type(value).__name__: value.isoformat()} if isinstance(value, datetime.date) else value for value in values]


def _values(plain: list[Any]) -> list[Any]:
    return [_value(value) for value in plain] if dict in set(map(type, plain)) else plain


def _value(value: Any) -> Any:
    match value:
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case {"datetime": str(text)}:
            return datetime.datetime.fromisoformat(text)
    return value
