"""What comes out of a daily feed: the rows people see, and what the ledger keeps of each batch of days."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid, LedgerError
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.chain import digest
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import price
from discreet.ledger.receipt import Kind, Receipt
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.plots.table import NO_ROWS, Series, text_table
from discreet.session.exporting import NO_TIDY
from discreet.session.feeds.calendar import MOST_DAYS, Calendar
from discreet.session.feeds.plan import mechanism_of
from discreet.session.released import CHANGED, Released
from discreet.session.shape import numbers, require, text, whole


@final
@frozen
class Opened:
    """What the ledger keeps of a feed that was paid for: its receipt."""

    receipt: Receipt
    repeated: bool = False

    def to_text(self) -> str:
        """One line of JSON."""
        return json.dumps({"receipt": self.receipt.to_json()}, separators=(",", ":"))

    def without_entries(self) -> Opened:
        """The same, with a receipt that names no ledger entries."""
        return Opened(self.receipt.without_entries(), self.repeated)

    @classmethod
    def from_text(cls, text: str, repeated: bool = True) -> Opened:
        """Read it back."""
        return cls(Receipt.from_json(json.loads(text)["receipt"]), repeated)


@final
@frozen
class Batch:
    """What the ledger keeps of some days in a row: what was measured of each, in steps of its grid, and the running totals made of it."""

    first: int
    measured: tuple[int, ...]
    totals: tuple[int | float, ...]

    @staticmethod
    def name(question: str, place: int) -> str:
        """The name of a feed's first, second … batch."""
        return digest([question, place])

    def to_text(self) -> str:
        """One line of JSON."""
        kept = {"first": self.first, "measured": self.measured, "totals": self.totals}
        return json.dumps(kept, separators=(",", ":"), allow_nan=False)

    def without_entries(self) -> Batch:
        """The same: it has no receipt of its own."""
        return self

    @classmethod
    def from_text(cls, text: str, repeated: bool = True) -> Batch:
        """Read it back."""
        try:
            found = json.loads(text)
            return cls(found["first"], tuple(found["measured"]), tuple(found["totals"]))
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not a batch of days: open a new feed under another name=…") from None


@final
@frozen(eq=False, repr=False, slots=False)
class Days(Released):
    """The days that were released so far: running totals and windows with their errors. Everything here is public.

    All but the totals follows from the receipt: dates, half-widths and windows are computed from it, so they cannot be changed by hand.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = ("feed",)

    steps: tuple[int | float, ...]  # the running totals, in units of `unit`
    level: Fraction
    lengths: tuple[int, ...]  # of the windows
    receipt: Receipt
    repeated: bool = field(default=False)

    # ── from the receipt ─────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _calendar(self) -> Calendar:
        asked = self.receipt.request
        return Calendar.of(asked["start"], asked["steps"], asked["every"])

    @cached_property
    def _mechanism(self) -> Tree | Toeplitz:
        return mechanism_of(self.receipt.priced)

    @property
    def every(self) -> str:
        """Days, weeks or months."""
        return self._calendar.every

    @property
    def unit(self) -> Fraction:
        """What 1 stands for in the stored totals."""
        return Fraction(self.receipt.request["unit"])

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return float(self.level)

    @property
    def first_days(self) -> Sequence[datetime.date]:
        """The first day of each step."""
        return self._calendar.first_days[: len(self)]

    @cached_property
    def totals(self) -> Sequence[int | float]:
        """The running totals."""
        return list(self.steps) if self.unit == 1 else [float(self.unit) * total for total in self.steps]

    @cached_property
    def errors(self) -> Sequence[float]:
        """The half-width of each running total."""
        return [self._mechanism.error(self.level, after=t + 1) * float(self.unit) for t in range(len(self))]

    @cached_property
    def windows(self) -> Mapping[int, Sequence[int | float]]:
        """The sums of the last so many days, by length."""
        totals = self.totals
        return {w: [totals[t] - (totals[t - w] if t >= w else 0) for t in range(len(self))] for w in self.lengths}

    @cached_property
    def window_errors(self) -> Mapping[int, Sequence[float]]:
        """The half-widths of the windows; one that is not full is the total."""
        within = {w: self._mechanism.error(self.level, 1, window=w) * float(self.unit) for w in self.lengths}
        return {w: [*self.errors[:w], *[within[w]] * (len(self) - w)] for w in self.lengths}

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each day: its date, the total since the start, how far off that may be, and the same for each window."""
        columns = self.to_columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_columns(self, intervals: bool = True, tidy: bool = False) -> dict[str, list[Any]]:
        """The columns by name; with intervals, each number is followed by its half-width, as name_error."""
        if tidy:
            raise Invalid(NO_TIDY)
        found: dict[str, list[Any]] = {self.every: list(self.first_days)}
        for name, values, errors in self._numbers:
            found |= {name: list(values)} | ({f"{name}_error": list(errors)} if intervals else {})
        return found

    @property
    def _numbers(self) -> list[tuple[str, Sequence[int | float], Sequence[float]]]:
        windows = [(f"last_{length}", values, self.window_errors[length]) for length, values in self.windows.items()]
        return [("total", self.totals, self.errors), *windows]

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        return Series(self.every, self.first_days, is_key=True), *(_series(*column) for column in self._numbers)

    @property
    def accuracy_notes(self) -> list[str]:
        """How sure the intervals are."""
        return [f"± is a {self.confidence * 100:.4g} % interval for the noise in each number; it excludes bias from contribution limits"]

    @property
    def charged(self) -> str:
        """What all days cost."""
        return f"all {self.every}s of this feed together cost {price(self.epsilon, self.delta)}, once"

    @property
    def small_print(self) -> list[str]:
        """How sure, and what was charged."""
        return [*self.accuracy_notes, self.charged]

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=NO_ROWS), "", *self.small_print])

    # ── keeping it ───────────────────────────────────────────────────────────────────────────────────────────────────

    def answers(self) -> dict[str, Any]:
        """The totals, and how they are shown."""
        return {"totals": list(self.steps), "confidence": str(self.level), "windows": list(self.lengths)}

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Days:
        """Read back what `answers` gave."""
        level: Number = exact.rational(text(answers["confidence"]))
        lengths = [whole(length, 1, MOST_DAYS) for length in answers["windows"]]
        require(lengths == sorted(set(lengths)))
        found = cls(tuple(numbers(answers["totals"])), confidence_of(level), tuple(lengths), receipt, repeated)
        require(0 < len(found) <= found._calendar.count and found.unit > 0)
        return found

    def _verify_answers(self, ledger: Ledger) -> None:
        """The ledger holds these running totals; windows, dates and half-widths are computed from them and from the receipt."""
        held: list[int | float] = []
        for place in range(len(self)):
            if len(held) >= len(self):
                break
            stored = ledger.find(Batch.name(self.receipt.question, place))
            held += [] if stored is None else Batch.from_text(stored["release"]).totals
        if json.dumps(held[: len(self)]) != json.dumps(self.steps):  # as texts: 1, 1.0 and true are equal in Python
            raise LedgerError(CHANGED)


def _series(name: str, values: Sequence[Any], errors: Sequence[float]) -> Series:
    ends = list(zip(values, errors, strict=True))
    return Series(name, values, [value - error for value, error in ends], [value + error for value, error in ends])
