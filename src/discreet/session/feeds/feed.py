"""Running counts and sums by day on a session: paid for once, for all days of the horizon together."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.engines.engine import Columns, Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.chain import Entry
from discreet.ledger.chain import digest as seal_of
from discreet.ledger.payment import Payments
from discreet.loss import record
from discreet.loss.loss import NOTHING, ZERO, Loss
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.private import Private
from discreet.query.canonical import fingerprint
from discreet.query.fluent import Ask
from discreet.session.feeds.days import Batch, Days, Opened
from discreet.session.feeds.request import CONFIDENCE, FORMAT, Calendar, Order
from discreet.session.receipts import price, together
from discreet.tables.catalog import Catalog

STOPPED = (
    "noise was drawn for the next days of this feed and never stored: a crash, or another process that is still at it. It is not drawn "
    "twice for one payment. If it stays so, open a new feed under another name=…, from a later start; what was released stays"
)


@final
@frozen
class Free:
    """The price of days of a feed that was paid for."""

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO
    loss: Loss = NOTHING


@final
class Feed:
    """Running totals by day, each with its error, for one payment.

    Opening it costs and reads nothing; the first `release` pays for all days of the horizon, and every later one is free. A day is noised
    once: what was released is kept in the ledger, and the same order, in any process, goes on with the same feed.

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

    def __init__(self, order: Order, engine: Engine, payments: Payments, windows: Iterable[int]) -> None:
        self.order, self.mechanism = order, order.mechanism
        self.windows = tuple(sorted({exact.whole(w, "a window") for w in windows}))
        if any(w > order.calendar.count for w in self.windows):
            raise Invalid("a window is not longer than the feed")
        self._engine, self._payments = engine, payments
        self._known: tuple[Batch, ...] = ()  # what was read or stored of it: public, and never another
        self._turn = threading.Lock()  # one thread at a time: a batch is named by those before it
        order.statement(1, engine.dialect)  # what cannot be written is refused here, before anything is paid

    @classmethod
    def of(
        cls, table: Ask[Any], catalog: Catalog, engine: Engine, payments: Payments, price: tuple[Fraction, Fraction], *, day: str,
        start: Any, days: int, every: Any, value: str | None, where: str | None, name: str, per_day: int, active_days: int,
        windows: Iterable[int],
    ) -> Feed:  # fmt: skip
        """Read a feed as people ask for it (`Session.daily`)."""
        calendar = Calendar.of(start, days, every)
        order = Order.of(table, catalog, price, day, calendar, value, where, per_day, active_days, name)
        return cls(order, engine, payments, windows)

    # ── before paying ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def loss(self) -> Loss:
        """What all days together cost one unit, over the whole horizon."""
        return self.order.loss

    def error(self, confidence: Number = CONFIDENCE, *, window: int | None = None, size: int = 1) -> float:
        """How far off a running total (the last is the worst) or a window's sum may be; with `size`, so many of them at once."""
        return self.mechanism.error(confidence, size, window=window) * float(self.order.stat.step)

    def explain(self) -> str:
        """Who is protected, what it costs, and how far off the totals will be; reads and spends nothing."""
        order, calendar, days = self.order, self.order.calendar, self.order.calendar.count
        what = "rows" if order.value is None else "the sum"
        one = (
            f"{order.moved * float(order.stat.step):,.6g} at most"
            if order.value is not None
            else f"{order.per_day} row{'s' * (order.per_day > 1)} at most"
        )
        noise = "Gaussian, Toeplitz" if isinstance(self.mechanism, Toeplitz) else "Laplace, tree"
        lines = [
            f"daily {order.table}: {what} by {calendar.every}, {calendar.start} to {calendar.last} ({days:,} steps)",
            f"protected: {order.catalog.protected}, over all of these days ({order.catalog.adjacency})",
            f"counted: of each unit {order.counted}, on each of them {one}",
            f"price: ε = {price(order.epsilon)}, δ = {price(order.delta)}, once for all of them, at the first release"
            + (" (paid)" if self._payments.knows(order.question) else ""),
            *together(order.loss, order.epsilon, order.delta),
            f"noise: {noise}; 95 % of the time a running total is within ± {self.error():,.4g}, "
            f"all of them within ± {self.error(size=days):,.4g}",
            *(f"the last {w} {calendar.every}s: within ± {self.error(window=w):,.4g}" for w in self.windows),
        ]
        return "\n".join(lines)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(
            "a feed belongs to its session and cannot be copied or pickled: open it there with the same arguments; it is paid once"
        )

    def __repr__(self) -> str:
        order = self.order
        return (
            f"Feed({order.table} by {order.calendar.every}, {order.calendar.start} to {order.calendar.last}; each unit's first "
            f"{order.active_days}; ε = {price(order.epsilon)}, δ = {price(order.delta)} once; ± {self.error():,.4g})"
        )

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    def release(self, until: datetime.date | str, *, confidence: Number = CONFIDENCE) -> Days:
        """Give the running totals of all days up to this one; days that were not released before are noised now, for nothing more."""
        steps, level = self.order.calendar.complete(until), confidence_of(confidence)
        receipt = self._opened().receipt
        totals: list[int | float] = []
        for batch in self._batches(steps):
            totals += batch.totals
        return self._shown(totals[:steps], level, receipt)

    def _opened(self) -> Opened:
        """Pay for the whole feed, if nobody has."""
        order = self.order
        return self._payments.pay_once(order, order.question, f"daily {order.table}", self._receipt, Opened.from_text)

    def _receipt(self, paid: Entry) -> Opened:
        order = self.order
        said = {
            "format": FORMAT,
            "question": order.question,
            "table": order.table,
            "asked": order.asked,
            "epsilon": str(order.epsilon),
            "delta": str(order.delta),
            "confidence": str(CONFIDENCE),
            "protected": order.catalog.protected,
            "adjacency": order.catalog.adjacency,
            "policy": order.catalog.digest,
            "version": order.catalog.version,
            "loss": record.to_json(order.loss),
            "notes": [f"of each unit {order.counted} count"],
            "ledger": {"sequence": paid.sequence, "entry": paid.hash},
        }
        return Opened(said | {"hash": seal_of(said)})

    def _batches(self, steps: int) -> tuple[Batch, ...]:
        """What was stored of this feed, and then, if that is not enough, one batch more: noised now and stored before it is seen."""
        with self._turn:
            known = self._known
            while (done := sum(len(batch.totals) for batch in known)) < steps:
                found = self._batch(fingerprint([self.order.question, len(known)]), known, done, steps)
                if found.first != done or not found.totals or len(found.measured) != len(found.totals):
                    raise Invalid("what is stored of this feed does not fit together: open a new one under another name=…")
                self._known = known = (*known, found)
            return known

    def _batch(self, question: str, before: Sequence[Batch], done: int, steps: int) -> Batch:
        # the data is read before the days are claimed: an engine that fails then costs nothing, for no noise was drawn
        values = None if self._payments.knows(question) else self._values(steps)

        def run(paid: Entry) -> Batch:
            assert values is not None, "who found no answer has read the days"
            stream = self.mechanism.open()
            stream.follow(values.map(itemgetter(slice(done))), [one for batch in before for one in batch.measured])
            totals = stream.add_many(values.map(itemgetter(slice(done, None))))
            return Batch(done, tuple(stream.measured), tuple(totals))

        note = f"daily {self.order.table}: {self.order.calendar.every}s {done + 1} to {steps}, paid before"
        return self._payments.pay_once(Free(), question, note, run, Batch.from_text, lost=STOPPED)

    def _values(self, steps: int) -> Private[list[int]]:
        """Each day's number, bounded and whole."""
        statement = self.order.statement(steps, self._engine.dialect)
        place = {day.isoformat(): i for i, day in enumerate(self.order.calendar.first_days[:steps])}

        def placed(columns: Columns) -> list[int]:
            numbers = [0] * steps
            for day, number in zip(columns["k0"].tolist(), columns["s0"].tolist(), strict=True):
                if day in place:
                    numbers[place[day]] = int(number)
            return numbers

        return self._engine.run(statement.text, statement.given).map(placed)

    def _shown(self, totals: Sequence[int | float], level: Fraction, receipt: dict[str, Any]) -> Days:
        order, unit, many = self.order, self.order.stat.step, len(totals)
        scaled = totals if unit == 1 else [float(unit) * total for total in totals]
        errors = [self.mechanism.error(level, after=t + 1) * float(unit) for t in range(many)]
        within = {w: self.error(level, window=w) for w in self.windows}
        windows = {w: [scaled[t] - (scaled[t - w] if t >= w else 0) for t in range(many)] for w in self.windows}
        return Days(
            every=order.calendar.every,
            first_days=order.calendar.first_days[:many],
            totals=scaled,
            errors=errors,
            windows=windows,
            window_errors={w: [*errors[:w], *[within[w]] * (many - w)] for w in self.windows},  # a window that is not full is the total
            confidence=float(level),
            receipt=receipt,
        )
