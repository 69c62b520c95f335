"""The release of a stateful run: everything that was asked and answered so far, with the receipt of what was paid for it."""

from __future__ import annotations

from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import price
from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.table import NO_ROWS, Series, text_table
from discreet.run.output_column import OutputColumn
from discreet.session.release import columns_from_json, columns_to_json
from discreet.session.released import Released
from discreet.session.shape import check_columns, require

_HITS = ("asked", "threshold", "above")
_COLUMNS: dict[Kind, tuple[tuple[str, ...], ...]] = {
    "conversation": (("asked", "value", "source"),),
    "threshold stream": (_HITS, (*_HITS, "value"), (*_HITS, "gap")),
}


@final
@frozen(eq=False, repr=False, slots=False)
class Transcript(Released):
    """Questions and answers of a conversation or a threshold stream, in the order in which they were asked.

    The ledger keeps every payment of such a run and none of its answers: `verify` checks the payments.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = ("conversation", "threshold stream")

    columns: tuple[OutputColumn, ...]
    receipt: Receipt
    repeated: bool = field(default=False)

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        return tuple(Series(c.name, c.values, c.low, c.high, c.name == "asked") for c in self.columns)

    @property
    def charged(self) -> str:
        """The number of payments, and the most that they cost together."""
        count = len(self.receipt.payments)
        return f"{count} payment{'s' * (count != 1)}, which together cost at most {price(self.epsilon, self.delta)}"

    def __repr__(self) -> str:
        return "\n".join([text_table(self.series, len(self), empty=NO_ROWS), "", *self.small_print])

    def answers(self) -> dict[str, Any]:
        """The columns as plain values."""
        return columns_to_json(self.columns)

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Transcript:
        """Read back what `answers` gave."""
        columns = columns_from_json(answers)
        check_columns(columns)
        require(tuple(column.name for column in columns) in _COLUMNS[receipt.kind])
        return cls(columns, receipt, repeated)

    def _verify_answers(self, ledger: Ledger) -> None:
        """The ledger holds no answers of a stateful run; but answers without any payment cannot come from a run of this ledger."""
        if len(self) and not self.receipt.payments:
            raise LedgerError("this transcript has answers and no payments: do not trust it")
