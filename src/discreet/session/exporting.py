"""Releases as data frames, tables and files of other tools. Whatever is exported is public, and exporting is free."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from discreet.errors import Invalid
from discreet.extras import missing
from discreet.ledger.receipt import Receipt
from discreet.plots.table import Series
from discreet.session.exported import SIDECAR, arrow_table, csv_sidecar, csv_text, metadata, write_parquet
from discreet.session.publishing.sheets import about_sheet, answer_sheets
from discreet.session.publishing.workbook import workbook

SAVED = "release.json"  # in the folder of a publication
NO_TIDY = (
    "there are no tidy values: a question with GROUP BY ROLLUP, CUBE or GROUPING SETS has them for COUNT, and for SUM of numbers that are "
    "never negative; leave out tidy=True"
)


class Exporting(ABC):
    """What can be exported: columns with their intervals, and what the numbers mean.

    `intervals` adds the ends of intervals, as name_low and name_high. `tidy` adds values that are nowhere negative, whole for counts, and
    add up, as name_tidy; they claim no interval, and the unbiased values stay beside them. In files and data frames, a key that is NULL
    both in a group and in totals has a column name_total beside it, which is true in totals.
    """

    receipt: Receipt

    @property
    @abstractmethod
    def series(self) -> Sequence[Series]:
        """The columns as they are shown."""

    @property
    @abstractmethod
    def confidence(self) -> float:
        """The confidence of the intervals."""

    @property
    @abstractmethod
    def accuracy_notes(self) -> list[str]:
        """What the intervals cover, where there are any."""

    @property
    def whole_or_missing(self) -> Collection[str]:
        """The columns of whole numbers in which a value may be missing."""
        return ()

    def to_columns(self, intervals: bool = True, tidy: bool = False) -> dict[str, list[Any]]:
        """The columns by name; with intervals, each that has one is followed by its ends, as name_low and name_high."""
        if tidy and all(series.tidy is None for series in self.series):
            raise Invalid(NO_TIDY)
        found, wanted = dict[str, list[Any]](), 0
        for series in self.series:
            columns = {series.name: series.values}
            if intervals and series.low is not None and series.high is not None:
                columns |= {f"{series.name}_low": series.low, f"{series.name}_high": series.high}
            if tidy and series.tidy is not None:
                columns |= {f"{series.name}_tidy": series.tidy}
            found |= {name: list(values) for name, values in columns.items()}
            wanted += len(columns)
        if len(found) < wanted:
            raise Invalid(
                "an output has the same name as an interval's end or a tidy value: rename it in the question, or pass intervals=False"
            )
        return found

    def _exported(self, intervals: bool, tidy: bool) -> dict[str, list[Any]]:
        """The columns of files and data frames: where a key is NULL in a group and in totals, a column beside it tells which is which."""
        marks = {one.name: (one.total_column, list(one.summed)) for one in self.series if one.total_column and one.summed is not None}
        found: dict[str, list[Any]] = {}
        for name, values in self.to_columns(intervals, tidy).items():
            found |= {name: values} | ({marks[name][0]: marks[name][1]} if name in marks else {})
        return found

    def to_pandas(self, intervals: bool = True, tidy: bool = False) -> Any:
        """A pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise missing("pandas") from None
        columns = self._exported(intervals, tidy)
        whole = {name: pandas.array(columns[name], dtype="Int64") for name in self.whole_or_missing}  # else pandas makes them floats
        return pandas.DataFrame(columns | whole)

    def to_polars(self, intervals: bool = True, tidy: bool = False) -> Any:
        """A Polars DataFrame."""
        try:
            import polars
        except ImportError:
            raise missing("polars") from None
        return polars.DataFrame(self._exported(intervals, tidy), strict=False)

    def to_arrow(self, intervals: bool = True, tidy: bool = False) -> Any:
        """An Arrow table; the metadata of its schema and fields says what the numbers mean and what was paid."""
        return arrow_table(self._exported(intervals, tidy), self.metadata())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows for any library that reads Arrow streams: polars.DataFrame(release), duckdb.sql("FROM release"), …"""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_parquet(self, path: str | os.PathLike[str], intervals: bool = True, tidy: bool = False) -> None:
        """Write the rows as a Parquet file, with the metadata of `to_arrow`."""
        table = self.to_arrow(intervals, tidy)
        try:
            write_parquet(table, os.fspath(path))
        except (OSError, ValueError):
            raise Invalid(_unwritable(path)) from None

    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        intervals: bool = True,
        formulas: bool = False,
        sidecar: bool = True,
        tidy: bool = False,
    ) -> str | None:
        """Write the rows as CSV to a file, or return them as text.

        A text that a spreadsheet would run as a formula (it, or what follows a semicolon, starts with = + - @, a tab or a line break) has
        an apostrophe before that, because text from the data must not run on the reader's computer. With `formulas=True` it is unchanged.
        Numbers are never changed. Unless `sidecar=False`, `name.csv-metadata.json` beside the file says what they mean and what was paid.
        """
        text = csv_text(columns := self._exported(intervals, tidy), formulas)
        if path is None:
            return text
        write_file(path, text)
        if sidecar:
            write_file(f"{os.fspath(path)}{SIDECAR}", csv_sidecar(path, columns, self.metadata()))
        return None

    def to_xlsx(self, path: str | os.PathLike[str], intervals: bool = True, tidy: bool = False) -> None:
        """Write the rows as an Excel workbook: a sheet for each grouping set, and one with what the numbers mean and what was paid.

        Numbers and dates are cells of their types. All text is written as text: none of it is a formula, whatever it begins with.
        """
        told = self.metadata()
        write_file(path, workbook([*answer_sheets(self.to_columns(intervals, tidy), self.series), about_sheet(told)]))

    def metadata(self) -> dict[str, Any]:
        """What the numbers mean and what was paid for them, as plain values: the unit, the price, each column's role, the receipt."""
        return metadata(self.receipt, self.series, self.confidence, [*self.accuracy_notes, *self.receipt.notes])


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, or raise Invalid."""
    try:
        Path(path).write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    except (OSError, ValueError):
        raise Invalid(_unwritable(path)) from None


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """A folder that is there now, or raise Invalid."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise Invalid(f"{os.fspath(folder)} cannot be made: check that it is no file, and that its parent is writable") from None
    return place


def _unwritable(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)} cannot be written: check that its folder exists and is writable"
