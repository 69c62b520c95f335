"""Running counts and sums by day on a session: paid for once, for all days of the horizon together."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, final

from attrs import frozen

from discreet.engines.engine import Columns
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.chain import Entry
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import price
from discreet.ledger.receipt import CONFIDENCE, Receipt
from discreet.loss.loss import NOTHING, ZERO, Loss
from discreet.plots.page import html_lines
from discreet.private import Private
from discreet.session.feeds.days import Batch, Days, Opened
from discreet.session.feeds.plan import FeedPlan
from discreet.session.pipeline import Pipeline

STOPPED = (
    "noise for the next days of this feed was drawn and not stored: a run crashed, or another process is still running. Noise is not drawn "
    "twice for one payment. If this error stays, open a new feed under another name=…, from a later start; released days stay available"
)


@final
@frozen
class PaidBefore:
    """The price of further days of a feed that was paid for: zero."""

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO
    loss: Loss = NOTHING


@final
class Feed:
    """Running totals by day, each with its error, for one payment.

    Opening it costs and reads nothing; the first `release` pays for all days of the horizon, and every later one is free. A day is noised
    once: what was released is kept in the ledger, and the same request, in any process, goes on with the same feed.

    Assumes. What was counted of a day does not change after the day was released: rows that come later carry later days, none of past days
    are changed or deleted, in this table and in those that link its rows to their units, and public tables that are joined stay as they
    are. The owner gives the data a new version where that does not hold, which begins a new feed, for a new price. And a day is released
    when it is over. (Were the past to change all the same, the days of one batch are still measured of one bounded vector, so that m
    batches cost at most m times ρ, or ε.) What changes the past by itself, `per_unit` and joins of private tables, is refused.

    >>> import discreet, polars
    >>> ids, first = range(3000), datetime.date(2026, 1, 1)
    >>> visits = polars.DataFrame({"id": [i // 3 for i in ids], "on": [first + datetime.timedelta(days=i % 90) for i in ids]})
    >>> db = discreet.connect({"visits": visits}, unit="id", epsilon=2, delta=1e-6, ledger=":memory:")
    >>> feed = db.daily("visits", day="on", start="2026-01-01", days=90, epsilon=1, active_days=3, windows=(7,))
    >>> march = feed.release(until="2026-03-01")
    >>> len(march), db.spent, feed.release(until="2026-03-02").totals[:60] == march.totals
    (60, Amount(epsilon=1, delta=0), True)
    """

    def __init__(self, plan: FeedPlan, pipeline: Pipeline) -> None:
        self.plan, self.mechanism, self.windows = plan, plan.mechanism, plan.windows
        self._pipeline = pipeline
        self._known: tuple[Batch, ...] = ()  # what was read or stored of it: public, and never another
        self._turn = threading.Lock()  # one thread at a time: a batch is named by those before it

    # ── before paying ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def loss(self) -> Loss:
        """What all days together cost one unit, over the whole horizon."""
        return self.plan.loss

    def error(self, confidence: Number = CONFIDENCE, *, window: int | None = None, size: int = 1) -> float:
        """How far off a running total (the last is the worst) or a window's sum may be; with `size`, so many of them at once."""
        return self.plan.error(confidence, window=window, size=size)

    def explain(self) -> str:
        """Who is protected, what it costs, whether that was paid, and how far off the totals will be; reads and spends nothing."""
        told = self.plan.explain()
        return told.replace("at the first release", "at the first release (paid)") if self._is_paid else told

    @property
    def _is_paid(self) -> bool:
        return self._pipeline.payments.knows(self.plan.priced.question)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(
            "a feed is attached to its session and cannot be copied or pickled: open it with the same arguments; it is paid only once"
        )

    def __repr__(self) -> str:
        return f"Feed({self.plan.title}; {price(self.plan.epsilon, self.plan.delta)} once; ± {self.error():,.4g})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), self.explain().splitlines())

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    def release(self, until: datetime.date | str, *, confidence: Number = CONFIDENCE) -> Days:
        """Give the running totals of all days up to this one; days that were not released before are noised now, at no further cost."""
        steps, level = self.plan.totals.calendar.complete(until), confidence_of(confidence)
        opened = self._opened()
        totals = [total for batch in self._batches(steps) for total in batch.totals]
        return Days(tuple(totals[:steps]), level, self.windows, opened.receipt, opened.repeated)

    @property
    def receipt(self) -> Receipt:
        """What was paid for all days; before the first release, nothing."""
        return self._opened().receipt if self._is_paid else Receipt(self.plan.priced, ())

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that receipt, and with a ledger that it was paid there; raise Invalid or LedgerError if not."""
        receipt = self.receipt
        receipt.verify(ledger if receipt.payments else None)

    def _opened(self) -> Opened:
        """Pay for the whole feed, if nobody has."""
        plan = self.plan

        def run(paid: Entry) -> Opened:
            return Opened(plan.priced.receipt(paid, notes=plan.notes))

        note = f"daily {plan.totals.table}"
        return self._pipeline.payments.pay_once(plan, plan.priced.question, note, run, Opened.from_text)

    def _batches(self, steps: int) -> tuple[Batch, ...]:
        """What was stored of this feed, and then, if that is not enough, one batch more: noised now and stored before it is seen."""
        with self._turn:
            known = self._known
            while (done := sum(len(batch.totals) for batch in known)) < steps:
                found = self._batch(Batch.name(self.plan.priced.question, len(known)), known, done, steps)
                if found.first != done or not found.totals or len(found.measured) != len(found.totals):
                    raise Invalid("the stored days of this feed are inconsistent: open a new feed under another name=…")
                self._known = known = (*known, found)
            return known

    def _batch(self, question: str, before: Sequence[Batch], done: int, steps: int) -> Batch:
        # the data is read before the days are claimed: an engine that fails then costs nothing, for no noise was drawn
        values = None if self._pipeline.payments.knows(question) else self._values(steps)

        def run(paid: Entry) -> Batch:
            assert values is not None, "who found no answer has read the days"
            stream = self.mechanism.open()
            stream.follow(values.map(itemgetter(slice(done))), [one for batch in before for one in batch.measured])
            totals = stream.add_many(values.map(itemgetter(slice(done, None))))
            return Batch(done, tuple(stream.measured), tuple(totals))

        note = f"daily {self.plan.totals.table}: {self.plan.totals.calendar.every}s {done + 1} to {steps}, paid before"
        return self._pipeline.payments.pay_once(PaidBefore(), question, note, run, Batch.from_text, lost=STOPPED)

    def _values(self, steps: int) -> Private[list[int]]:
        """Each day's number, bounded and whole."""
        totals, engine = self.plan.totals, self._pipeline.engine
        statement = totals.statement(steps, engine.dialect)
        place = {day.isoformat(): i for i, day in enumerate(totals.calendar.first_days[:steps])}

        def placed(columns: Columns) -> list[int]:
            numbers = [0] * steps
            for day, number in zip(columns["k0"].tolist(), columns["s0"].tolist(), strict=True):
                if day in place:
                    numbers[place[day]] = int(number)
            return numbers

        return engine.run(statement.text, statement.given).map(placed)
