"""The answers to several questions, with one receipt."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, final

from attrs import evolve, field, frozen

from discreet.ledger.receipt import Kind, Receipt
from discreet.plan.key_values import OTHER
from discreet.plots.table import Series, text_table
from discreet.run.output_column import OutputColumn
from discreet.session.exporting import SAVED, made_folder, write_file
from discreet.session.publishing.page import contents
from discreet.session.release import Release, columns_from_json, columns_to_json
from discreet.session.released import Released
from discreet.session.shape import check_columns, require


@final
@frozen(eq=False, repr=False, slots=False)
class BatchRelease(Released):
    """The answers to several questions: `release["q1"]` is one of them, `release.parts` are all. The receipt is for the whole."""

    KINDS: ClassVar[tuple[Kind, ...]] = ("batch",)

    columns: Mapping[str, tuple[OutputColumn, ...]]
    receipt: Receipt
    repeated: bool = field(default=False)

    def __getitem__(self, name: str) -> Release:
        """The answer to one question; `save` and `verify` of it are those of the whole, which was paid for together."""
        asked = dict(self.receipt.request["questions"])
        priced = evolve(self.receipt.priced, kind="question", request=asked[name])
        found = self.receipt.discovered.get(name, {})
        receipt = evolve(self.receipt, priced=priced, discovered=found, notes=tuple(found.get("notes", ())))
        return Release(self.columns[name], receipt, self.repeated, batch=self)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return tuple(self.columns)

    @property
    def parts(self) -> dict[str, Release]:
        """The answer to each question."""
        return {name: self[name] for name in self.columns}

    @property
    def tidy(self) -> dict[str, list[dict[str, Any]]]:
        """The tidy rows of each question that has tidy values, as `tidy` of one answer."""
        return {name: part.tidy for name, part in self.parts.items() if any(column.tidy is not None for column in part.columns)}

    @property
    def series(self) -> tuple[Series, ...]:
        """All numbers in one long table: the question, the group, the output, its value and the ends of its interval."""
        rows = list(self._long())
        question, group, output, value, low, high, text = (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 7
        keys = (Series("question", question, is_key=True), Series("group", group, is_key=True), Series("output", output, is_key=True))
        return *keys, Series("value", value, low, high), Series("text", text)

    def _long(self) -> Iterator[tuple[Any, ...]]:
        for name, part in self.parts.items():
            keys = [series for series in part.series if series.is_key]
            for series in part.series:
                if not series.is_key:
                    for row in range(len(part)):
                        group = ", ".join(f"{key.name} = {key.values[row]}" for key in keys)
                        value = series.values[row]
                        number = isinstance(value, int | float) and not isinstance(value, bool)
                        low, high = (None if ends is None else ends[row] for ends in (series.low, series.high))
                        text = None if number or value is None else str(value)
                        yield name, group, series.name, float(value) if number else None, low, high, text

    def __len__(self) -> int:
        return sum(len(part) * sum(not series.is_key for series in part.series) for part in self.parts.values())

    @property
    def accuracy_notes(self) -> list[str]:
        """What the intervals cover; where questions differ, those that a note is about come first."""
        about: dict[str, list[str]] = {}
        for name, part in self.parts.items():
            for note in part.accuracy_notes:
                about.setdefault(note, []).append(name)
        return list(about) if len(about) == 1 else [f"{', '.join(names)}: {note}" for note, names in about.items()]

    @property
    def small_print(self) -> list[str]:
        """The lines below the tables: what marks mean, what the intervals cover, notes, and what was charged."""
        return [*dict.fromkeys(line for part in self.parts.values() for line in part.legend), *super().small_print]

    def publish(self, folder: str | os.PathLike[str], tidy: bool = False) -> list[Path]:
        """Write a folder for each question, 1, 2, … in their order, as `publish` of one answer does; return the files.

        In the folder itself are a page that links to theirs, `index.html`, and the whole with its receipt, `release.json`. With `tidy`,
        questions that have tidy values show them.
        """
        place, parts = made_folder(folder), self.parts
        files = [place / "index.html", place / SAVED]
        write_file(files[0], contents([(f"{number}/index.html", name) for number, name in enumerate(parts, 1)], self.charged))
        self.save(files[1])
        for number, part in enumerate(parts.values(), 1):
            files += part.write_tables(place / str(number), tidy and any(column.tidy is not None for column in part.columns))
        return files

    def answers(self) -> dict[str, Any]:
        """The columns of each question as plain values."""
        return {name: columns_to_json(columns) for name, columns in self.columns.items()}

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> BatchRelease:
        """Read back what `answers` gave."""
        asked = dict(receipt.request["questions"])
        require(list(answers) == list(asked))
        columns = {name: columns_from_json(said) for name, said in answers.items()}
        for name, found in columns.items():
            check_columns(found, besides=OTHER)
            require([column.name for column in found] == [output for output, _ in asked[name]["outputs"]])
        return cls(columns, receipt, repeated)

    def __repr__(self) -> str:
        tables = [f"{name}\n{text_table(part.series, len(part), empty=part.empty)}\n" for name, part in self.parts.items()]
        return "\n".join([*tables, *self.small_print])
