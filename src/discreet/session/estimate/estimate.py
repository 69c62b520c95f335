"""An estimate: a public value with its error bars and its receipt."""

from __future__ import annotations

import html
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import Ledger
from discreet.loss import record
from discreet.session.receipts import price, together, verify_receipt


@final
@frozen(repr=False)
class Estimate:
    """What was estimated and released; public for ever. A value of None means that the data did not pass a stability test."""

    value: Any
    standard_error: float | None
    what: str
    how: str
    receipt: dict[str, Any] = field()
    repeated: bool = field(default=False)

    @property
    def epsilon(self) -> Fraction:
        """What was paid for it, once."""
        return Fraction(self.receipt["epsilon"])

    @property
    def delta(self) -> Fraction:
        """The chance that was paid with it."""
        return Fraction(self.receipt["delta"])

    def to_text(self) -> str:
        """The estimate as one line of JSON."""
        said = {"value": self.value, "standard_error": self.standard_error, "what": self.what, "how": self.how, "receipt": self.receipt}
        return json.dumps(said, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_text(cls, text: str, repeated: bool = False) -> Estimate:
        """Read back what to_text wrote."""
        try:
            found = json.loads(text)
            return cls(found["value"], found["standard_error"], found["what"], found["how"], found["receipt"], repeated)
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not an estimate") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write value and receipt as JSON, which `discreet verify` checks and `Estimate.open` reads."""
        try:
            Path(path).write_text(self.to_text() + "\n", encoding="utf-8")
        except OSError:
            raise Invalid(f"{os.fspath(path)} cannot be written: check that its folder is there and may be written to") from None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Estimate:
        """Read what `save` wrote."""
        try:
            return cls.from_text(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise Invalid(f"{os.fspath(path)} cannot be read: give a file that `save` wrote") from None

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check the receipt, and with a ledger also that this is the very value it holds; raise Invalid or LedgerError if not."""
        verify_receipt(self.receipt, ledger)
        if ledger is not None:
            stored = ledger.release_of(ledger.entry(self.receipt["ledger"]["sequence"]))
            if stored is None or stored["release"] != self.to_text():
                raise LedgerError("the ledger holds another value for this question: this one was changed, or made up")

    def explain(self) -> str:
        """Who is protected, what was done, what it cost, and what it cost several units together."""
        lines = [f"{self.what}: {self._told}", self.how, f"protects {self.receipt['protected']}", *self.receipt["notes"], self._paid]
        return "\n".join([*lines, *together(record.from_json(self.receipt["loss"]), self.epsilon, self.delta)])

    @property
    def _told(self) -> str:
        if self.value is None:
            return "no answer: the data are too near to others that would answer differently"
        told = f"{self.value:,.6g}" if isinstance(self.value, float) else str(self.value)
        return told if self.standard_error is None else f"{told} (standard error {self.standard_error:.3g})"

    @property
    def _paid(self) -> str:
        paid = f"ε = {price(self.epsilon)}" + (f", δ = {price(self.delta)}" if self.delta else "")
        entry = f"ledger entry {self.receipt['ledger']['sequence']}"
        return f"answered before, so free now (it cost {paid}; {entry})" if self.repeated else f"cost {paid} ({entry})"

    def __repr__(self) -> str:
        return f"{self.what}: {self._told}\n{self.how}\n{self._paid}"

    def _repr_html_(self) -> str:
        small = "<br>".join(html.escape(line) for line in (self.how, self._paid))
        return f"<p><b>{html.escape(self.what)}: {html.escape(self._told)}</b><br><small>{small}</small></p>"
