"""The one road: a question is read, planned, paid for, run and released."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from discreet import exact, parameter
from discreet.engines.engine import Engine
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.ledger.chain import Entry
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import CLOSED, Payments
from discreet.ledger.purchases import purchases_as_dicts
from discreet.ledger.shares import grant_share
from discreet.ledger.standing import Amount
from discreet.ledger.terms import Terms
from discreet.loss.loss import Loss
from discreet.plan.compile import compile_plan
from discreet.plan.steps import Steps
from discreet.query import fluent as query
from discreet.query.question import Question
from discreet.query.relation.node import tables_in
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.receipt import question_digest, receipt
from discreet.session.plan import Plan
from discreet.session.query import CONFIDENCE, Query
from discreet.session.release import Release
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Value
from discreet.tables.policy import Policy
from discreet.tables.table import Contributions

if TYPE_CHECKING:
    from discreet.session.estimate.estimate import Estimate
    from discreet.session.estimate.plan import EstimatePlan
    from discreet.session.feeds.feed import Feed
    from discreet.session.feeds.request import Every
    from discreet.session.feeds.watch import Values, Watch
    from discreet.session.synthesize.interactive import Conversation
    from discreet.session.synthesize.request import Marginals
    from discreet.session.synthesize.synthetic import Synthetic

QUESTIONS_OF_DELTA = 32  # a question's δ is this part of the budget's, unless it is said


@final
class Session:
    """A connection to private tables: ask in SQL or in Python, see the error first, pay from one budget."""

    def __init__(self, engine: Engine, catalog: Catalog, ledger: Ledger, analyst: str | None = None) -> None:
        self._engine, self._catalog, self._ledger, self._dialect = engine, catalog, ledger, engine.dialect
        self._payments = Payments(ledger, analyst, engine.ready)
        self._public: dict[tuple[str, str], tuple[Value, ...]] = {}
        self._closed = False

    @classmethod
    def open(
        cls,
        engine: Engine,
        policy: Policy,
        names: Collection[str],
        ledger: str,
        witness: str | os.PathLike[str] | None,
        analyst: str | None = None,
    ) -> Session:
        """A session over tables of an engine, under a policy, paying from a ledger; `analyst` is who asks."""
        try:
            catalog = policy.catalog({name: engine.schema(name) for name in names})
            terms = Terms(policy.epsilon, policy.delta, catalog.protected, catalog.adjacency)
            opened = open_ledger(ledger, terms, witness)
            known = opened.analysts() if policy.analysts else {}
            for share in policy.analysts:
                grant_share(opened, share.analyst, Amount(share.epsilon, share.delta), known.get(share.analyst))
            opened.allowance(analyst)  # or whoever asks has none
            return cls(engine, catalog, opened, analyst)
        except BaseException:
            engine.close()
            raise

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def sql(self, text: str, *, dialect: str = "duckdb", other: bool = False, contributions: Mapping[str, int] | None = None) -> Query:
        """Ask in SQL; nothing is read or spent until `release`.

        `other` adds one group for all rows whose group is not shown; `contributions` says for this question how much of one unit counts.
        """
        from discreet.query.sql.read import read

        return self._query(read(text, self._catalog, dialect), text, other, contributions)

    def table(self, name: str) -> query.Ask[Query]:
        """Ask in Python, beginning with a table: `db.table("visits").where("cost > 10").group_by("dept").count().release(epsilon=0.1)`."""
        return query.table(self._catalog, name, lambda question: self._query(self._own(question), "", False, None), estimator=self.estimate)

    def _own(self, question: Question) -> Question:
        """A chain may have been joined with one of another session, whose tables promise other things."""
        if not all(table in self._catalog.tables for table in tables_in(question.relation)):
            raise Invalid("this joins or stacks a table of another session: begin with db.table(...) of this one")
        return question

    def ask(self, text: str, **price: Any) -> Release:
        """Ask in SQL and release at once."""
        return self.sql(text).release(**price)

    def synthesize(
        self,
        table: str | query.Ask[Query],
        epsilon: Number,
        delta: Number | None = None,
        *,
        columns: Sequence[str] | None = None,
        workload: Marginals = None,
        method: str = "auto",
        bins: int = 32,
        size: int | None = None,
        contributions: Mapping[str, int] | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Synthetic:
        """Make a synthetic table of a table, or of what `db.table(...)` makes of one; the whole price is (ε, δ).

        `workload` says what should be right: all marginals of so many columns (usually 3, or 2 where 3 are too many), or a list of
        marginals. `method` is auto, residuals, aim or mst. With `size`, about how many records there are, it is refused before anything is
        spent if independent columns would be as good. Categories, bounds and limits that are not declared are found for a tenth of ε.
        `progress` is called with what was done and the share of the work that is done.
        """
        from discreet.session.synthesize import run as road
        from discreet.session.synthesize.discover import Discovery
        from discreet.session.synthesize.request import Order

        price = parameter.price_epsilon(epsilon), self._usual_delta if delta is None else parameter.price_delta(delta)
        asked = self.table(table) if isinstance(table, str) else table
        order = Order.of(asked, self._catalog, price, columns, workload, method, bins, size, contributions)

        def ask(text: str, part: Fraction, chance: Fraction) -> Release:
            return self.sql(text, contributions=contributions).release(part, chance)

        def price_of(text: str, part: Fraction, chance: Fraction) -> Loss | None:
            plan = self.sql(text, contributions=contributions).plan(part, chance)
            return None if self._is_known(plan) else plan.loss

        return road.synthesize(order, self._catalog, self._engine, self._payments, Discovery(ask, price_of), progress)

    def interactive(
        self,
        columns: Sequence[str],
        epsilon: Number,
        accuracy: Number,
        *,
        table: str | query.Ask[Query] | None = None,
        delta: Number | None = None,
        bins: int = 32,
        contributions: Mapping[str, int] | None = None,
        questions: int = 10_000,
        beta: Number = Fraction(1, 20),
    ) -> Conversation:
        """Open a stream of counts and means over some columns, each within `accuracy` records (below 1: that share of all records).

        Every step is charged before it is taken, and all together stay within (ε, δ); what is known already is free. With probability
        1 − beta all of the first `questions` answers are as near as they say.
        """
        from discreet.session.synthesize.interactive import Conversation, rules_for
        from discreet.session.synthesize.request import Order

        private = [one.name for one in self._catalog.tables if one.private]
        if table is None and len(private) != 1:
            raise Invalid(f"say which table the columns are of: table=…, one of {', '.join(private)}")
        price = parameter.price_epsilon(epsilon), self._usual_delta if delta is None else parameter.price_delta(delta)
        if not price[1]:
            raise Refused("an interactive session needs a δ: connect with delta=1e-6, or pass delta=")
        asked = table if isinstance(table, query.Ask) else self.table(table or private[0])
        order = Order.of(asked, self._catalog, price, columns, None, "auto", bins, None, contributions)
        return Conversation(order, self._catalog, self._engine, self._payments, rules_for(accuracy, questions, beta))

    def watch(self, epsilon: Number, threshold: Number, rounds: int = 1, *, values: Values = False, monotone: bool = False) -> Watch:
        """Open a stream of threshold questions: which totals are above? Those below are free; each round, with one hit, costs ε.

        `values=True` tells the total at a hit too, out of a third of ε, and `values="gap"` by how much the threshold was beaten, for free.
        `monotone=True` allows counts and sums of what is never negative only, with less noise.
        """
        from discreet.session.feeds.watch import Watch

        def plan(asked: Any) -> Steps:
            if self._closed:
                raise Invalid(CLOSED)
            if not isinstance(asked, str | Query | query.Ask):
                raise Invalid("ask in SQL, or with db.sql(...) or db.table(...)")
            question = self._own(self.sql(asked).question if isinstance(asked, str) else asked.question)
            return self._compiled(question, Fraction(1), Fraction(0)).steps

        return Watch.open(epsilon, threshold, rounds, values, monotone, self._catalog.adjacency, plan, self._engine, self._payments)

    def estimate(
        self,
        table: str | query.Ask[Query],
        what: Callable[[Any], Any] | str,
        of: str | None = None,
        *,
        epsilon: Number,
        delta: Number | None = None,
        dry: bool = False,
        **options: Any,
    ) -> Estimate | EstimatePlan:
        """Estimate any function of people's rows, or a robust statistic of one value for each; also `db.table(...).estimate(...)`.

        A function gets the columns of one block of units at a time, and the blocks' answers are aggregated (`aggregate` median, mean or
        stable; `bounds` between which answers lie; `blocks`; `uncertainty=True` for a standard error too; `columns`; `frame` pandas or
        polars). It runs in this process and sees private rows: whoever passes one could read the table too. With `name` it is remembered,
        and free the second time. A statistic is mean, median, quantile (`q`), interquartile range, trimmed mean (`trim`) or mode, of the
        expression `of`, by `method` inverse, smooth or test (with a `bound` on the sensitivity). With `dry` nothing is paid: the plan.
        """
        from discreet.session.estimate import run as road

        price = parameter.price_epsilon(epsilon), self._usual_delta if delta is None else parameter.price_delta(delta)
        asked = self.table(table) if isinstance(table, str) else table
        plan = road.plan_of(asked, self._catalog, self._engine, price, what, of, options)
        return plan if dry else road.run(plan, self._payments)

    def daily(
        self, table: str | query.Ask[Query], *, day: str, start: datetime.date | str, days: int, epsilon: Number,
        delta: Number | None = None, value: str | None = None, where: str | None = None, per_day: int = 1, active_days: int = 1,
        windows: Sequence[int] = (), every: Every = "day", name: str = "",
    ) -> Feed:  # fmt: skip
        """Open a feed of running counts, or sums of `value`, by the day, week or month of a column, over so many of these from `start` on.

        (ε, δ) pays once, at the first release, for all of them; of each unit the first `active_days` days with any rows count, and on each
        `per_day` rows at most (of a sum, `per_day` times the largest value). Another `name` is another feed, at its own price.
        """
        from discreet.session.feeds.feed import Feed

        price = parameter.price_epsilon(epsilon), self._usual_delta if delta is None else parameter.price_delta(delta)
        asked = self.table(table) if isinstance(table, str) else table
        return Feed.of(
            asked, self._catalog, self._engine, self._payments, price, day=day, start=start, days=days, every=every, value=value,
            where=where, name=name, per_day=per_day, active_days=active_days, windows=windows,
        )  # fmt: skip

    def _query(self, question: Question, text: str, other: bool, contributions: Mapping[str, int] | None) -> Query:
        if other and not question.keys:
            raise Invalid("without GROUP BY there are no other groups")
        if contributions is not None:
            question = evolve(question, contributions=Contributions.of(contributions))
        return Query(self, evolve(question, other=True) if other else question, text)

    @property
    def _usual_delta(self) -> Fraction:
        return exact.grid_down(self._payments.allowance.granted.delta / QUESTIONS_OF_DELTA)

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The largest single further question that is still admitted."""
        return self._payments.allowance.remaining

    @property
    def spent(self) -> Amount:
        """What was charged so far: to this session's analyst, or to all together if it has none."""
        return self._payments.allowance.spent

    def history(self) -> list[dict[str, Any]]:
        """Every question that was paid for, oldest first: when, its price, what was asked, and whether it was answered."""
        return purchases_as_dicts(self._ledger)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._closed = True
        self._payments.close()
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a session holds connections and cannot be copied or pickled: connect again where it is needed, with the same ledger")

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name} ({'private' if table.private else 'public'})" for table in self._catalog.tables)
        return f"Session({tables}; protects {self._catalog.protected}; remaining ε = {float(self.remaining.epsilon or 0):g})"

    # ── the road ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, question: Question, epsilon: Number | None, delta: Number | None) -> Plan:
        """The plan at this price. If the budget does not admit it with its usual δ, one with the δ that is left, or without, is tried."""
        if self._closed:
            raise Invalid(CLOSED)
        price = parameter.price_epsilon(epsilon) if epsilon is not None else question.epsilon
        if question.epsilon not in (None, price):
            raise Invalid("the question itself says another epsilon in its OPTIONS: leave one of the two out")
        if price is None:
            raise Invalid("say how much this question may cost: epsilon=0.1, or in SQL WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1)")
        said = parameter.price_delta(delta) if delta is not None else question.delta
        live = self._payments.allowance
        usual = self._compiled(question, price, self._usual_delta if said is None else said)
        if said is not None or self._is_known(usual):
            return usual
        for left in (None, live.remaining.delta, Fraction(0)):
            plan = usual if left is None else self._compiled_or_none(question, price, left)
            if plan is not None and live.admits(plan.loss):
                return plan
        return usual

    def _compiled(self, question: Question, epsilon: Fraction, delta: Fraction) -> Plan:
        return Plan(compile_plan(question, self._catalog, epsilon, delta, self._values_of), self._dialect)

    def _compiled_or_none(self, question: Question, epsilon: Fraction, delta: Fraction) -> Plan | None:
        try:
            return self._compiled(question, epsilon, delta)
        except Refused:
            return None  # groups cannot be found without a δ

    def _values_of(self, table: str, column: str) -> tuple[Value, ...]:
        """The values of a public table's column, in order."""
        if (table, column) not in self._public:
            name, place = self._dialect.identifier(table), self._dialect.identifier(column)
            found = self._engine.read_public(f"SELECT DISTINCT {place} AS v FROM {name} WHERE {place} IS NOT NULL ORDER BY v")
            self._public[table, column] = tuple(found["v"].tolist())
        return self._public[table, column]

    def _is_known(self, plan: Plan) -> bool:
        return self._payments.knows(question_digest(plan.steps, CONFIDENCE))

    def _release(self, plan: Plan, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release:
        question = question_digest(plan.steps, confidence)

        def run(paid: Entry) -> Release:
            answers = execute(plan.steps, self._engine, progress)
            said = receipt(plan.steps, answers.plan.discovered, confidence, question, paid.sequence, paid.hash)
            return Release(tuple(outcome(answers, float(confidence))), float(confidence), said)

        return self._payments.pay_once(plan, question, note, run, Release.from_text)
