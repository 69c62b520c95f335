"""What all releases have in common: rows, files, data frames and verification. A release is public, and using it is free."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

from attrs import evolve

from discreet.errors import Invalid, LedgerError
from discreet.extras import require
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import group_loss_lines, price
from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.inline import inline_svg
from discreet.plots.labels import chosen, with_unit
from discreet.plots.layout import MOST_BARS
from discreet.plots.notes import notes_of
from discreet.plots.page import html_table
from discreet.plots.table import NO_ROWS, Series
from discreet.session.compact_json import compact_json
from discreet.session.exporting import Exporting, write_file
from discreet.session.shape import check_texts

FORMAT = 2
CHANGED = "the ledger holds other answers to this question: do not trust these"
Row = dict[str, Any]
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, zlib.error)  # raised on malformed files
_SEAL = ',"seal":"{}"}}'


class Released(Exporting, ABC):
    """Answers with their receipt.

    A file is one line of JSON: format, kind, answers, receipt, and a seal over all of it. The ledger stores the same line.
    """

    KINDS: ClassVar[tuple[Kind, ...]]  # the kinds of its receipts
    receipt: Receipt
    repeated: bool  # whether it was answered before, and was free now

    # ── what each kind of release defines itself ────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def series(self) -> Sequence[Series]:
        """The columns as they are shown."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def answers(self) -> dict[str, Any]:
        """What is stored beside the receipt, as plain values."""

    @classmethod
    @abstractmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Self:
        """Read back what `answers` gave, and check its shape; an error of `MALFORMED` means that `answers` did not write it."""

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def rows(self) -> list[Row]:
        """The answers, a dict for each row."""
        return rows_of({series.name: series.values for series in self.series})

    @property
    def intervals(self) -> list[dict[str, tuple[Any, Any]]]:
        """For each row, the ends of each column that has an interval."""
        with_ends = [(s.name, s.low, s.high) for s in self.series if s.low is not None and s.high is not None]
        return [{name: (low[i], high[i]) for name, low, high in with_ends} for i in range(len(self))]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def epsilon(self) -> Fraction:
        """The ε of the request; a stateful run may have paid less, see `receipt.loss`."""
        return self.receipt.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of the request."""
        return self.receipt.delta

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return float(self.receipt.priced.confidence)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def empty(self) -> str:
        """The text that is shown for a table without rows."""
        return NO_ROWS

    @property
    def accuracy_notes(self) -> list[str]:
        """What the intervals cover, where there are any."""
        return []

    @property
    def small_print(self) -> list[str]:
        """The lines below the table: what the intervals cover, notes, what was charged and where that is recorded."""
        told = notes_of({"notes": self.receipt.notes, "found": self.receipt.discovered})
        return [*self.accuracy_notes, *told, self.charged]

    @property
    def charged(self) -> str:
        """What it cost, and the ledger entry, in one line."""
        if self.receipt.dry_run:
            return "dry run on mock data: no private row was read and nothing was charged"
        if self.repeated:
            return f"answered before, so free now (it cost {price(self.epsilon, self.delta)}{self._entry and f'; {self._entry}'})"
        return self._cost

    @property
    def _cost(self) -> str:
        return f"cost {price(self.epsilon, self.delta)}{self._entry and f' ({self._entry})'}"

    @property
    def _entry(self) -> str:
        return self.receipt.where if self.receipt.payments else "nothing charged yet"

    def _repr_html_(self) -> str:
        drawn = inline_svg(self.series, len(self), self.is_ordered)
        return html_table(self.series, len(self), self.small_print, empty=self.empty, drawn=drawn)

    def explain(self) -> str:
        """Who is protected, what was charged, and the privacy loss of groups of several units."""
        who = f"protects {self.receipt.protected}, under {self.receipt.adjacency}"
        return "\n".join([who, *self.small_print, *group_loss_lines(self.receipt.loss, self.epsilon, self.delta)])

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        column: str | Sequence[str] | None = None,
        *,
        ax: Any = None,
        title: str | None = None,
        units: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> Any:
        """Draw the numbers by group, a panel for each column, or only the columns named: a figure, or a file if a path is given.

        `ax` draws one column (the first, unless one is named) into axes of Matplotlib and returns them. `units` gives the unit of a
        column, as in {"cost": "€"}. `most` is the number of groups shown; the others are counted below.
        """
        require("matplotlib")
        from discreet.plots.figure import draw_release

        columns = chosen(self.series, column, one=ax is not None)
        return draw_release(
            [with_unit(series, units or {}) for series in self.series if series.is_key],
            [with_unit(series, units or {}) for series in columns],
            len(self),
            " · ".join([*self.accuracy_notes, self.charged if self.receipt.dry_run else self._cost]),  # a figure is read later
            path,
            ax=ax,
            title=title,
            most=MOST_BARS if most is None else most,
            ordered=self.is_ordered,
            empty=self.empty,
        )

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the rows was asked for."""
        return False

    # ── saving and verifying ───────────────────────────────────────────────────────────────────────────────────────────────────

    def to_json(self) -> dict[str, Any]:
        """The release as plain values."""
        return {"format": FORMAT, "kind": self.receipt.kind, "answers": self.answers(), "receipt": self.receipt.to_json()}

    def to_text(self) -> str:
        """The release as one line of JSON, with a seal."""
        body = compact_json(self.to_json())[:-1]
        return body + _SEAL.format(_seal(body))

    @classmethod
    def from_text(cls, text: str, repeated: bool = False) -> Self:
        """Read back what `to_text` wrote; raise Invalid if it is not a release, has another format, or was changed."""
        body, seal = text.rstrip("\n")[: -len(_SEAL.format(64 * "0"))], text.rstrip("\n")[-66:-2]
        try:
            said = json.loads(text)
            made, kind = said["format"], said["kind"]
        except MALFORMED:
            raise Invalid(_nobody_wrote(cls)) from None
        if made != FORMAT:
            raise Invalid(
                f"this has format {str(made)[:20]}, and this version of discreet reads format {FORMAT}: use the version that wrote it"
            )
        if kind not in cls.KINDS:
            raise Invalid(f"this is not a release of this kind ({cls.KINDS[0]}): open it with the class that saved it")
        if _seal(body) != seal:  # checked before anything is decompressed
            raise Invalid("this file was changed after it was saved: open an unchanged copy")
        try:
            check_texts(said)
            found = cls.from_answers(said["answers"], Receipt.from_json(said["receipt"]), repeated)
            repr(found)  # fails if anything that is shown is missing
            return found
        except Invalid:
            raise
        except MALFORMED:
            raise Invalid(_nobody_wrote(cls)) from None

    def without_entries(self) -> Self:
        """The same release, with a receipt that names no ledger entries."""
        return evolve(self, receipt=self.receipt.without_entries())  # type: ignore[misc]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers and receipt as JSON, which `discreet verify` checks and `open` reads."""
        write_file(path, self.to_text() + "\n")

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError):  # also raised if it is not UTF-8
            raise Invalid(f"{os.fspath(path)} cannot be read: check that it exists, and give a file that `save` wrote") from None
        found = cls.from_text(text)
        try:
            if json.loads(found.to_text()) != json.loads(text):
                raise Invalid("this file has fields that are not part of a release and cannot be checked: remove them")
            found.explain()  # a seal says that a file was not changed, not that it makes sense
        except Invalid:
            raise
        except MALFORMED:
            raise Invalid(_nobody_wrote(cls)) from None
        return found

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt; with a ledger also that these are exactly the answers it holds. Raise Invalid or LedgerError if not."""
        self.receipt.verify(ledger)
        if ledger is not None:
            self._verify_answers(ledger)

    def _verify_answers(self, ledger: Ledger) -> None:
        held = self.receipt.held_by(ledger)
        told = json.loads(self.to_text())["answers"]
        if json.dumps(held["answers"], sort_keys=True) != json.dumps(told, sort_keys=True):  # as texts: 1, 1.0 and true are equal in Python
            raise LedgerError(CHANGED)


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Columns by name as a dict for each row; filled column by column, which is several times as fast as row by row."""
    rows: list[Row] = [{} for _ in next(iter(columns.values()), ())]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


def _nobody_wrote(cls: type[Released]) -> str:
    return f"this is not a release ({cls.KINDS[0]}): give a file that `save` wrote"


def _seal(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
