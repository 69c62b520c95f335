"""An estimate: a public value with its error and its receipt."""

from __future__ import annotations

from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.table import Series
from discreet.session.released import Released
from discreet.session.shape import is_amount, is_cell, require, text


@final
@frozen(repr=False, slots=False)
class Estimate(Released):
    """A released estimate; public. A value of None means that the data did not pass a stability test."""

    KINDS: ClassVar[tuple[Kind, ...]] = ("estimate",)

    value: Any
    standard_error: float | None
    what: str
    how: str
    receipt: Receipt
    repeated: bool = field(default=False)

    def __len__(self) -> int:
        return 1

    @property
    def series(self) -> tuple[Series, ...]:
        """What was estimated, its value, and its standard error where there is one."""
        spread = () if self.standard_error is None else (Series("standard_error", [self.standard_error]),)
        return Series("estimate", [self.what], is_key=True), Series("value", [self.value]), *spread

    @property
    def accuracy_notes(self) -> list[str]:
        """How the value was computed."""
        return [self.how]

    def answers(self) -> dict[str, Any]:
        """The value and what it is of, as plain values."""
        return {"value": self.value, "standard_error": self.standard_error, "what": self.what, "how": self.how}

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Estimate:
        """Read back what `answers` gave."""
        value, spread = answers["value"], answers["standard_error"]
        require(is_cell(value) and (spread is None or is_amount(spread)))
        return cls(value, spread, text(answers["what"]), text(answers["how"]), receipt, repeated)

    def explain(self) -> str:
        """Who is protected, what was done, what it cost, and the privacy loss of groups of several units."""
        return f"{self.what}: {self._told}\n{super().explain()}"

    @property
    def _told(self) -> str:
        if self.value is None:
            return "no answer: the stability test failed, because neighbouring data would give another answer"
        told = f"{self.value:,.6g}" if isinstance(self.value, float) else str(self.value)
        return told if self.standard_error is None else f"{told} (standard error {self.standard_error:.3g})"

    def __repr__(self) -> str:
        return f"{self.what}: {self._told}\n{self.how}\n{self.charged}"
