"""An estimate: a public value with its error and its receipt."""

from __future__ import annotations

from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.table import Series
from discreet.session.released import Released


@final
@frozen(repr=False, slots=False)
class Estimate(Released):
    """What was estimated and released; public for ever. A value of None means that the data did not pass a stability test."""

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
    def sureness(self) -> list[str]:
        """By which mechanism."""
        return [self.how]

    def answers(self) -> dict[str, Any]:
        """The value and what it is of, as plain values."""
        return {"value": self.value, "standard_error": self.standard_error, "what": self.what, "how": self.how}

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Estimate:
        """Read back what `answers` gave."""
        return cls(answers["value"], answers["standard_error"], answers["what"], answers["how"], receipt, repeated)

    def explain(self) -> str:
        """Who is protected, what was done, what it cost, and what it cost several units together."""
        return f"{self.what}: {self._told}\n{super().explain()}"

    @property
    def _told(self) -> str:
        if self.value is None:
            return "no answer: the data are too near to others that would answer differently"
        told = f"{self.value:,.6g}" if isinstance(self.value, float) else str(self.value)
        return told if self.standard_error is None else f"{told} (standard error {self.standard_error:.3g})"

    def __repr__(self) -> str:
        return f"{self.what}: {self._told}\n{self.how}\n{self.charged}"
