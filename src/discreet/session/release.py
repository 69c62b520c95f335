"""What came out: public for ever. Rows with error bars, the plan's price, and a receipt that can be checked."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid, LedgerError
from discreet.extras import missing
from discreet.ledger.ledger import Ledger
from discreet.loss import record
from discreet.plots.notes import notes_of
from discreet.plots.page import html_table
from discreet.plots.table import LEGEND, NO_GROUP, NO_ROWS, Series, text_table
from discreet.run.execute import OTHER
from discreet.run.outcome import Shown
from discreet.session.receipts import price, together, verify_receipt

Row = dict[str, Any]
CHANGED = "the ledger holds other answers to this question: these were changed, or made up"


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

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────

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

    @property
    def keys(self) -> tuple[str, ...]:
        """The outputs that name groups."""
        asked = self.receipt["asked"]
        grouped = {name for name, _ in asked["keys"]}
        return tuple(name for name, expr in asked["outputs"] if expr.get("is") == "Column" and expr.get("name") in grouped)

    @property
    def epsilon(self) -> Fraction:
        """What was paid for it, once."""
        return Fraction(self.receipt["epsilon"])

    @property
    def delta(self) -> Fraction:
        """The chance that was paid with it."""
        return Fraction(self.receipt["delta"])

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        keys = set(self.keys)
        return tuple(Series(c.name, c.values, c.low, c.high, c.name in keys) for c in self.columns)

    @property
    def small_print(self) -> list[str]:
        """What goes below the table: how sure, how much was paid, and where that is written."""
        legend = [LEGEND] if any(s.is_faint(row) for s in self.series for row in range(min(len(self), 200))) else []
        return [*legend, *self._sureness, *notes_of(self.receipt), self._paid]

    @property
    def _sureness(self) -> list[str]:
        some = any(series.low is not None for series in self.series)
        return [f"± holds {self.confidence * 100:.4g} % of the time, for the noise around the bounded question"] if some else []

    @property
    def _paid(self) -> str:
        if self.receipt.get("dry_run"):
            return "dry run on made-up data: nothing was read and nothing was spent"
        entry = f"ledger entry {self.receipt['ledger']['sequence']}"
        paid = f"ε = {price(self.epsilon)}" + (f", δ = {price(self.delta)}" if self.delta else "")
        return f"answered before, so free now (it cost {paid}; {entry})" if self.repeated else f"cost {paid} ({entry})"

    @property
    def empty(self) -> str:
        """What an empty table says: groups are too small only where they were found, which takes a δ, and none was left out afterwards."""
        asked = self.receipt["asked"]
        return NO_ROWS if asked.get("having") is not None or asked.get("limit") == 0 or not self.delta else NO_GROUP

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=self.empty), "", *self.small_print])

    def _repr_html_(self) -> str:
        return html_table(self.series, len(self), self.small_print, empty=self.empty)

    def explain(self) -> str:
        """Who is protected, what was paid, and what the same answers cost several units together."""
        loss = record.from_json(self.receipt["loss"])
        who = f"protects {self.receipt['protected']}, under {self.receipt['adjacency']}"
        return "\n".join([who, *self.small_print, *together(loss, self.epsilon, self.delta)])

    def plot(self, path: str | os.PathLike[str] | None = None, column: str | None = None) -> Any:
        """Draw a column (the first with error bars, unless one is named) over the groups: a figure, or a file if a path is given."""
        try:
            from discreet.plots.bars import draw_column
        except ImportError:
            raise missing("matplotlib") from None
        drawn = [s for s in self.series if not s.is_key and (s.name == column if column is not None else s.to_the_right)]
        if not drawn:
            have = ", ".join(s.name for s in self.series if not s.is_key)
            raise Invalid(f"there is no column to draw{'' if column is None else ' of that name'}; there are {have}")
        drawn.sort(key=lambda s: s.low is None)
        return draw_column([s for s in self.series if s.is_key], drawn[0], len(self), " · ".join([*self._sureness, self._paid]), path)

    # ── taking it elsewhere ──────────────────────────────────────────────────────────────────────────────────────────

    def to_columns(self, intervals: bool = True) -> dict[str, list[Any]]:
        """The columns by name; with intervals, each that has one is followed by its ends, as name_low and name_high.

        Keys that are numbers or dates become texts where the group of all others, (other), is among them.
        """
        found: dict[str, list[Any]] = {}
        for column in self.columns:
            found[column.name] = _of_one_type(column.values)
            if intervals and column.low is not None and column.high is not None:
                found |= {f"{column.name}_low": column.low, f"{column.name}_high": column.high}
        wanted = sum(1 + 2 * (intervals and c.low is not None and c.high is not None) for c in self.columns)
        if len(found) < wanted:
            raise Invalid("an output already has the name of an interval's end: rename it in the question, or take intervals=False")
        return found

    def to_pandas(self, intervals: bool = True) -> Any:
        """A pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise missing("pandas") from None
        return pandas.DataFrame(self.to_columns(intervals))

    def to_polars(self, intervals: bool = True) -> Any:
        """A Polars DataFrame."""
        try:
            import polars
        except ImportError:
            raise missing("polars") from None
        return polars.DataFrame(self.to_columns(intervals), strict=False)

    def to_arrow(self, intervals: bool = True) -> Any:
        """An Arrow table."""
        try:
            import pyarrow
        except ImportError:
            raise missing("pyarrow") from None
        return pyarrow.table({name: _narrow(values) for name, values in self.to_columns(intervals).items()})

    def to_csv(self, path: str | os.PathLike[str] | None = None, intervals: bool = True, formulas: bool = False) -> str | None:
        """Write the rows as CSV into a file, or give them as text.

        A text that a spreadsheet would run (one that begins with = + - @, a tab or a line break) gets an apostrophe in front, for whoever
        wrote it into the data is not who opens the file; with `formulas` it is written as it is. Numbers are never changed.
        """
        columns, text = self.to_columns(intervals), io.StringIO()
        written = csv.writer(text, lineterminator="\n")
        rows = itertools.chain([columns], zip(*columns.values(), strict=True))
        written.writerows(rows if formulas else (map(_harmless, row) for row in rows))
        if path is None:
            return text.getvalue()
        _write(path, text.getvalue())
        return None

    def to_json(self) -> dict[str, Any]:
        """The release as plain values, to be kept or sent."""
        columns = [
            {"name": c.name, "values": _plain(c.values), "raw": c.raw, "widths": c.widths, "least": c.least, "most": c.most}
            for c in self.columns
        ]
        return {"columns": columns, "confidence": self.confidence, "receipt": self.receipt}

    def to_text(self) -> str:
        """The release as one line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":"), allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers and receipt as JSON, which `discreet verify` checks and `Release.open` reads."""
        _write(path, self.to_text() + "\n")

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Release:
        """Read what `save` wrote."""
        try:
            return cls.from_text(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise Invalid(f"{os.fspath(path)} cannot be read: give a file that `save` wrote") from None

    @classmethod
    def from_text(cls, text: str, repeated: bool = False) -> Release:
        """Read back what to_text wrote."""
        try:
            found = json.loads(text)
            columns = tuple(Shown(c["name"], _values(c["values"]), c["raw"], c["widths"], c["least"], c["most"]) for c in found["columns"])
            return cls(columns, found["confidence"], found["receipt"], repeated)
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not a release") from None

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt, and with a ledger also that these are the very answers it holds; raise Invalid or LedgerError if not."""
        verify_receipt(self.receipt, ledger)
        if ledger is not None and stored_release(self.receipt, ledger).to_text() != self.to_text():
            raise LedgerError(CHANGED)


def stored_release(receipt: dict[str, Any], ledger: Ledger) -> Release:
    """The release that the ledger holds for a receipt that was checked against it."""
    stored = ledger.release_of(ledger.entry(receipt["ledger"]["sequence"]))
    if stored is None:
        raise LedgerError("this question was paid for, but the ledger holds no answers to it: these were made up")
    return Release.from_text(stored["release"])


def _write(path: str | os.PathLike[str], text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError:
        raise Invalid(f"{os.fspath(path)} cannot be written: check that its folder is there and may be written to") from None


def _of_one_type(values: list[Any]) -> list[Any]:
    if OTHER not in values or all(isinstance(value, str | None) for value in values):
        return values
    return [value if value is None else str(value) for value in values]


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value


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


def _narrow(values: list[Any]) -> list[Any]:
    """Whole numbers beyond 64 bits as floats, with all of their column."""
    if not any(type(value) is int and abs(value) >= 2**63 for value in values):
        return values
    return [None if value is None else float(value) for value in values]
