"""What came out: public for ever. Rows with error bars, the plan's price, and a receipt that can be checked."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.plan.outcome import Shown

Row = dict[str, Any]


@final
@frozen(eq=False, repr=False, slots=False)
class Release:
    """Answers with their errors. Everything here is public; none of it costs anything again.

    `rows` are plain Python values by output name; `intervals` has for each row and column the ends between which the exact answer of the
    bounded question lies with the stated confidence; `raw` keeps the noisy value beside one that was clipped to where it must lie.
    """

    columns: tuple[Shown, ...]
    confidence: float
    receipt: dict[str, Any]
    repeated: bool = field(default=False)  # it was answered before, and cost nothing now

    @cached_property
    def rows(self) -> list[Row]:
        """The answers, a dict for each row."""
        return self._rows([column.values for column in self.columns])

    @cached_property
    def raw(self) -> list[Row]:
        """The answers as the noise left them, before they were clipped."""
        return self._rows([column.values if column.raw is None else column.raw for column in self.columns])

    @cached_property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""
        with_ends = [(c.name, c.low, c.high) for c in self.columns if c.low is not None and c.high is not None]
        return [{name: (low[i], high[i]) for name, low, high in with_ends} for i in range(len(self))]

    def _rows(self, columns: Sequence[Sequence[Any]]) -> list[Row]:
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def to_json(self) -> dict[str, Any]:
        """The release as plain values, to be kept or sent."""
        columns = [
            {"name": c.name, "values": [_plain(v) for v in c.values], "raw": c.raw, "low": c.low, "high": c.high} for c in self.columns
        ]
        return {"columns": columns, "confidence": self.confidence, "receipt": self.receipt}

    def to_text(self) -> str:
        """The release as one line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_text(cls, text: str, repeated: bool = False) -> Release:
        """Read back what to_text wrote."""
        try:
            found = json.loads(text)
            columns = tuple(Shown(c["name"], [_value(v) for v in c["values"]], c["raw"], c["low"], c["high"]) for c in found["columns"])
            return cls(columns, found["confidence"], found["receipt"], repeated)
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not a release") from None


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.date):  # and moments
        return {type(value).__name__: value.isoformat()}
    return value


def _value(value: Any) -> Any:
    match value:
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case {"datetime": str(text)}:
            return datetime.datetime.fromisoformat(text)
    return value
