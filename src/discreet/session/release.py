"""The release of a question: rows with intervals, the price, and a receipt that can be verified. All of it is public."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, final

from attrs import field, frozen

from discreet.errors import Invalid, LedgerError, Refused
from discreet.exact import Number
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import Kind, Receipt
from discreet.plan.key_values import OTHER
from discreet.plots.bins import bins_of
from discreet.plots.labels import measured
from discreet.plots.table import LEGEND, NO_END_LEGEND, NO_GROUP, NO_ROWS, TOO_FEW_LEGEND, TOTAL, Series, printable, text_table
from discreet.query.question import grouping_column
from discreet.query.statistics.percentile import LARGEST
from discreet.run.output_column import OutputColumn
from discreet.run.totals import ReleasedTotals, key_from_plain, key_to_plain
from discreet.session.exported import SIDECAR
from discreet.session.exporting import NO_TIDY, SAVED, made_folder, write_file
from discreet.session.publishing.jsonstat import jsonstat
from discreet.session.publishing.page import page, title_of
from discreet.session.released import CHANGED, Released, Row, rows_of
from discreet.session.shape import check_columns, require
from discreet.session.total_columns import total_column


class AskedQuestion(Protocol):
    """The question behind a release, on the session that asked it."""

    @property
    def said(self) -> str:
        """How it was asked: its SQL, or its calls."""

    def refine(self, first: Release, epsilon: Number, delta: Number | None) -> Release:
        """Buy another draw of its totals and combine both."""

    def at_confidence(self, first: Release, confidence: Number) -> Release:
        """The same answers with intervals of another confidence."""


@final
@frozen(eq=False, repr=False, slots=False)
class Release(Released):
    """Answers with their intervals. Everything here is public, and looking at it is free.

    `rows` are plain Python values by output name. `intervals` has a pair of ends for each row and column: with the stated confidence the
    exact answer lies between them, where "exact" is after clipping and contribution bounds. `raw` has the noisy values before they were
    clipped to their possible range.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = ("question",)

    columns: tuple[OutputColumn, ...]
    receipt: Receipt
    repeated: bool = field(default=False)
    totals: ReleasedTotals | None = None  # from which the columns were computed; None where a value was chosen
    question: AskedQuestion | None = None  # None for one that was read from a file
    stored: tuple[OutputColumn, ...] | None = None  # as the ledger has the columns, where those shown have another confidence
    level: Fraction | None = None  # that confidence
    batch: Released | None = None  # the batch of which this is one answer; it was paid for, and is saved and verified, as a whole

    # ── more of it ───────────────────────────────────────────────────────────────────────────────────────────────────

    def refine(self, epsilon: Number, delta: Number | None = None) -> Release:
        """Spend more on the same question, with the groups, bounds and limits of this answer, and combine both.

        Nothing is discovered again: all of ε goes to the totals. They are averaged with those of this answer, each weighted by its inverse
        variance; statistics and intervals follow from the averages. The same refinement again is free. Values that were chosen (MEDIAN,
        MODE) cannot be combined, and are refused.
        """
        return self._asked.refine(self, epsilon, delta)

    def at_confidence(self, confidence: Number) -> Release:
        """The same answers with intervals of another confidence, computed from the released totals free of charge.

        `save` and `verify` are about the answer as it was paid for, with the intervals that the ledger stores.
        """
        return self._asked.at_confidence(self, confidence)

    @property
    def _asked(self) -> AskedQuestion:
        if self.receipt.dry_run:
            raise Refused("this is a dry run on made-up data: release the question first")
        if self.question is None:
            raise Refused(
                "this release was read from a file or copied, or is one of a batch: ask its question by itself in a session, which is free "
                "if it was paid for by itself, and go on from there"
            )
        return self.question

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return super().confidence if self.level is None else float(self.level)

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def rows(self) -> list[Row]:
        """The answers, a dict for each row."""
        return rows_of({column.name: column.values for column in self.columns})

    @cached_property
    def raw(self) -> list[Row]:
        """The noisy answers before they were clipped to their possible range."""
        return rows_of({column.name: column.values if column.raw is None else column.raw for column in self.columns})

    @cached_property
    def tidy(self) -> list[Row]:
        """The answers with tidy values where there are any: nowhere negative, whole for counts, every total exactly the sum of its parts.

        GROUP BY ROLLUP, CUBE and GROUPING SETS have them for COUNT, and for SUM of numbers that are never negative; other columns are as in
        `rows`. They are computed from the unbiased values, free of charge. They are biased, so they claim no interval.
        """
        if all(column.tidy is None for column in self.columns):
            raise Invalid(NO_TIDY)
        return rows_of({column.name: column.values if column.tidy is None else column.tidy for column in self.columns})

    @cached_property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""
        return super().intervals

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the outputs that are group keys."""
        asked = self.receipt.request
        grouped = {name for name, _ in asked["keys"]}
        return tuple(name for name, expr in asked["outputs"] if expr.get("is") == "Column" and expr.get("name") in grouped)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        asked, keys = self.receipt.request, set(self.keys)
        told = dict(asked.get("statistics", ()))
        sources = {name: expr["name"] for name, expr in asked["outputs"] if expr.get("is") == "Column"}
        return tuple(self._series(c, c.name in keys, dict(asked["keys"]), told.get(sources.get(c.name)), sources) for c in self.columns)

    def _series(self, c: OutputColumn, is_key: bool, keys: Row, statistic: Any, sources: Row) -> Series:
        if is_key:
            bins = bins_of(keys[sources[c.name]])
            marks = c.summed or [False] * len(c.values)
            shown = [TOTAL if summed else value for value, summed in zip(c.values, marks, strict=True)] if any(marks) else c.values
            mark = total_column(c, sources[c.name], self.receipt.request["outputs"])
            return Series(c.name, shown, is_key=True, bins=bins, of="" if bins is None else bins.of, summed=c.summed, total_column=mark)
        measures, of = measured(statistic, self.receipt.protected)
        reach = math.inf if c.ends is None else float(LARGEST)  # of ends that were chosen among all numbers
        return Series(c.name, c.values, c.low, c.high, False, c.drawn == "point", None, measures, of, c.few, reach, c.tidy)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the rows was asked for."""
        return bool(self.receipt.request.get("order"))

    @property
    def legend(self) -> list[str]:
        """What the marks and words in the table's cells mean."""
        cells = [(s, row) for s in self.series for row in range(min(len(self), 200))]
        legend = [LEGEND] if any(s.is_faint(row) for s, row in cells) else []
        legend += [NO_END_LEGEND] if any(s.is_open(row) for s, row in cells) else []
        legend += [TOO_FEW_LEGEND] if any(s.few is not None and any(s.few) for s in self.series) else []
        return legend

    @property
    def small_print(self) -> list[str]:
        """The lines below the table: what the intervals cover, notes, what was charged and where that is recorded."""
        return [*self.legend, *super().small_print]

    @property
    def accuracy_notes(self) -> list[str]:
        """What the intervals cover, where there are any."""
        some = any(series.low is not None for series in self.series)
        said = printable(str(self.receipt.discovered.get("interval", "")))
        return [f"± is a {self.confidence * 100:.4g} % interval{said}"] if some else []

    @property
    def empty(self) -> str:
        """The text of an empty table: groups are too small only if they were discovered (δ > 0) and no HAVING or LIMIT removed them."""
        asked = self.receipt.request
        return NO_ROWS if asked.get("having") is not None or asked.get("limit") == 0 or not self.delta else NO_GROUP

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=self.empty), "", *self.small_print])

    # ── keeping it ───────────────────────────────────────────────────────────────────────────────────────────────────

    def to_columns(self, intervals: bool = True, tidy: bool = False) -> dict[str, list[Any]]:
        """The columns by name; with intervals, each that has one is followed by its ends, as name_low and name_high.

        A key column of numbers or dates becomes text where the group (other) is one of its values. A key is None in the totals of GROUP BY
        ROLLUP, CUBE or GROUPING SETS.
        """
        found = super().to_columns(intervals, tidy) | {column.name: list(column.values) for column in self.columns}
        return {name: _of_one_type(values) for name, values in found.items()}

    def to_jsonstat(self, path: str | os.PathLike[str] | None = None, intervals: bool = True, tidy: bool = False) -> str | None:
        """Write the rows as a JSON-stat 2.0 data set to a file, or return it as text."""
        return self._written(path, jsonstat(self.to_columns(intervals, tidy), self.series, self.metadata(), title_of(self.series)))

    def to_html(self, path: str | os.PathLike[str] | None = None, tidy: bool = False) -> str | None:
        """Write a printable page to a file, or return it as text: tables with their totals and intervals, the method, the receipt.

        With `tidy` the large numbers are tidy, and the small ones below are the unbiased values with their intervals.
        """
        if tidy:
            self.to_columns(tidy=True)  # refuses if there are none
        bits = {grouping_column(key) for key, _ in self.receipt.request["keys"]}
        outputs = dict(self.receipt.request["outputs"])
        printed = [one for one in self.series if outputs[one.name].get("name") not in bits]  # totals are printed as such
        return self._written(path, page(printed, len(self), self.metadata(), self.charged, self.empty, tidy, self.is_ordered))

    def publish(self, folder: str | os.PathLike[str], tidy: bool = False) -> list[Path]:
        """Write everything that a publication needs into a folder, and return the files.

        It has a page to print, `index.html`; the rows as `answers.csv` (with `answers.csv-metadata.json`), `answers.xlsx` and
        `answers.json` (JSON-stat 2.0); and `release.json`, which `discreet verify` checks.
        """
        written = self.write_tables(folder, tidy)
        self.save(Path(folder) / SAVED)
        return [*written, Path(folder) / SAVED]

    def write_tables(self, folder: str | os.PathLike[str], tidy: bool = False) -> list[Path]:
        """Write what `publish` does, but for the release itself."""
        place = made_folder(folder)
        self.to_csv(place / "answers.csv", tidy=tidy)
        self.to_xlsx(place / "answers.xlsx", tidy=tidy)
        self.to_jsonstat(place / "answers.json", tidy=tidy)
        self.to_html(place / "index.html", tidy=tidy)
        return [place / name for name in ("index.html", "answers.csv", f"answers.csv{SIDECAR}", "answers.xlsx", "answers.json")]

    def metadata(self) -> dict[str, Any]:
        """What the numbers mean and what was paid for them, as plain values; the receipt of one of a batch is that of the whole."""
        own = super().metadata() | {"title": title_of(self.series), "asked": "" if self.question is None else self.question.said}
        return own if self.batch is None else own | {"kind": self.batch.receipt.kind, "receipt": self.batch.receipt.to_json()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers and receipt as JSON, which `discreet verify` checks and `open` reads; one of a batch saves the whole batch."""
        if self.batch is None:
            super().save(path)
        else:
            self.batch.save(path)

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt; with a ledger also that these are exactly the answers it holds. One of a batch verifies the whole batch."""
        if self.batch is None:
            super().verify(ledger)
        elif self.answers() in self.batch.answers().values():
            self.batch.verify(ledger)
        else:
            raise LedgerError(CHANGED)

    @staticmethod
    def _written(path: str | os.PathLike[str] | None, text: str) -> str | None:
        if path is None:
            return text
        write_file(path, text)
        return None

    def answers(self) -> dict[str, Any]:
        """The columns as plain values, and the totals behind them."""
        totals = {} if self.totals is None else {"totals": self.totals.to_json()}
        return columns_to_json(self.stored or self.columns) | totals

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Release:
        """Read back what `answers` gave."""
        columns = columns_from_json(answers)
        check_columns(columns, besides=OTHER)
        require([column.name for column in columns] == [name for name, _ in receipt.request["outputs"]])
        totals = ReleasedTotals.from_json(answers["totals"]) if "totals" in answers else None
        return cls(columns, receipt, repeated, totals)


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
                **({} if c.few is None else {"few": c.few}),
                **({} if c.ends is None else {"ends": [pair if pair is None else list(pair) for pair in c.ends]}),
                **({} if c.tidy is None else {"tidy": c.tidy}),
                **({} if c.summed is None else {"summed": c.summed}),
            }
            for c in columns
        ]
    }


def columns_from_json(said: Any) -> tuple[OutputColumn, ...]:
    """Read back what `columns_to_json` gave."""
    return tuple(
        OutputColumn(
            c["name"],
            _values(c["values"]),
            c["raw"],
            c["widths"],
            c["least"],
            c["most"],
            c["drawn"],
            c.get("ends"),
            c.get("few"),
            c.get("tidy"),
            c.get("summed"),
        )
        for c in said["columns"]
    )


def _of_one_type(values: list[Any]) -> list[Any]:
    if OTHER not in values or all(isinstance(value, str | None) for value in values):
        return values
    return [value if value is None else str(value) for value in values]


def _plain(values: list[Any]) -> list[Any]:
    """Values as JSON; dates and timestamps are tagged."""
    return [key_to_plain(value) for value in values] if set(map(type, values)) & {datetime.date, datetime.datetime} else values


def _values(plain: list[Any]) -> list[Any]:
    return [key_from_plain(value) for value in plain] if dict in set(map(type, plain)) else plain
