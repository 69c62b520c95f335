"""The one road: a question is read, planned, paid for, run and released."""

from __future__ import annotations

import datetime
import itertools
import math
import os
import time
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any, final

from attrs import asdict, evolve, field, frozen

from discreet import parameter, query
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.exact import Number
from discreet.ledger.asked import asked
from discreet.ledger.chain import Entry
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.standing import NOTHING, Amount
from discreet.ledger.terms import Terms
from discreet.plan.bias import bias_question
from discreet.plan.compile import compile_plan
from discreet.plan.execute import execute
from discreet.plan.forecast import Forecast, confidence_of
from discreet.plan.outcome import outcome
from discreet.plan.plan import Plan
from discreet.plan.price import least_epsilon, wished_errors
from discreet.plan.question import Question
from discreet.plan.receipt import question_digest, receipt
from discreet.release import Release
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Value
from discreet.tables.policy import Policy
from discreet.tables.table import Contributions

QUESTIONS_OF_DELTA = 32  # a question's δ is this part of the budget's, unless it is said
CONFIDENCE = Fraction(95, 100)
_LONGEST_NOTE = 1000
_PATIENCE = 20  # seconds to wait for somebody who has just paid for the same question


@final
class Session:
    """A connection to private tables: ask in SQL or in Python, see the error first, pay from one budget."""

    def __init__(self, engine: Engine, catalog: Catalog, ledger: Ledger, analyst: str | None = None) -> None:
        self._engine, self._catalog, self._ledger, self._dialect = engine, catalog, ledger, engine.dialect
        self._analyst = analyst
        self._public: dict[tuple[str, str], tuple[Value, ...]] = {}
        self._closed = False
        self._failed: set[int] = set()  # payments of this process whose run failed

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
                spent = known[share.analyst].spent if share.analyst in known else NOTHING
                # less than was spent cannot be granted: then nothing more
                opened.grant(share.analyst, max(share.epsilon, spent.epsilon or share.epsilon), max(share.delta, spent.delta))
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
        from discreet.sql.read import read

        return self._query(read(text, self._catalog, dialect), text, other, contributions)

    def table(self, name: str) -> query.Ask[Query]:
        """Ask in Python, beginning with a table: `db.table("visits").where("cost > 10").group_by("dept").count().release(epsilon=0.1)`."""
        return query.table(self._catalog, name, lambda question: self._query(question, "", False, None))

    def ask(self, text: str, **price: Any) -> Release:
        """Ask in SQL and release at once."""
        return self.sql(text).release(**price)

    def _query(self, question: Question, text: str, other: bool, contributions: Mapping[str, int] | None) -> Query:
        if other and not question.keys:
            raise Invalid("without GROUP BY there are no other groups")
        if contributions is not None:
            question = evolve(question, contributions=Contributions.of(contributions))
        return Query(self, evolve(question, other=True) if other else question, text)

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The largest single further question that is still admitted."""
        return self._ledger.allowance(self._analyst).remaining

    @property
    def spent(self) -> Amount:
        """What was charged so far: to this session's analyst, or to all together if it has none."""
        return self._ledger.allowance(self._analyst).spent

    def history(self) -> list[dict[str, Any]]:
        """Every question that was paid for, oldest first: when, its price, what was asked, and whether it was answered."""
        return [
            asdict(one) | {"epsilon": math.inf if one.epsilon is None else float(one.epsilon), "delta": float(one.delta)}
            for one in asked(self._ledger)
        ]

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._closed = True
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name} ({'private' if table.private else 'public'})" for table in self._catalog.tables)
        return f"Session({tables}; protects {self._catalog.protected}; remaining ε = {float(self.remaining.epsilon or 0):g})"

    # ── the road ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, question: Question, epsilon: Number | None, delta: Number | None) -> Plan:
        """The plan at this price. If the budget does not admit it with its usual δ, one with the δ that is left, or without, is tried."""
        if self._closed:
            raise Invalid("this session is closed: connect again")
        price = parameter.some_epsilon(epsilon) if epsilon is not None else question.epsilon
        if question.epsilon not in (None, price):
            raise Invalid("the question itself says another epsilon in its OPTIONS: leave one of the two out")
        if price is None:
            raise Invalid("say how much this question may cost: epsilon=0.1, or in SQL WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1)")
        said = parameter.any_delta(delta) if delta is not None else question.delta
        live = self._ledger.allowance(self._analyst)
        usual = self._compiled(question, price, live.granted.delta / QUESTIONS_OF_DELTA if said is None else said)
        if said is not None or self._is_known(usual):
            return usual
        for left in (None, live.remaining.delta, Fraction(0)):
            plan = usual if left is None else self._compiled_or_none(question, price, left)
            if plan is not None and live.admits(plan.loss):
                return plan
        return usual

    def _compiled(self, question: Question, epsilon: Fraction, delta: Fraction) -> Plan:
        return Plan(compile_plan(question, self._catalog, epsilon, delta, self._dialect, self._values_of))

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
        return self._ledger.find(question_digest(plan.steps, CONFIDENCE)) is not None

    def _release(self, plan: Plan, confidence: Fraction, note: str, progress: Callable[[str], None]) -> Release:
        """Look for a stored answer; else pay, then read, then remember, then answer.

        A payment is for one draw. If the run fails after it, the question has to be paid for again: else an error that depends on the noise
        could be asked for again and again.
        """
        question = question_digest(plan.steps, confidence)
        known = self._ledger.find(question)
        paid = self._pay(plan, question, note) if known is None else None
        if paid is None:
            return Release.from_text((known or self._ledger.find(question) or {})["release"], repeated=True)
        try:
            answers = execute(plan.steps, self._engine, progress)
            said = receipt(plan.steps, answers.plan.found, confidence, question, paid.sequence, paid.hash)
            release = Release(tuple(outcome(answers, float(confidence))), float(confidence), said)
            text = release.to_text()
            self._ledger.store(paid, {"release": text})
        except BaseException:
            self._failed.add(paid.sequence)
            raise
        first = (self._ledger.find(question) or {})["release"]  # somebody slower than our patience may have been first after all
        return release if first == text else Release.from_text(first, repeated=True)

    def _pay(self, plan: Plan, question: str, note: str) -> Entry | None:
        """Pay for one draw; or None, if somebody who paid for the same question at the same time has answered it meanwhile."""
        for attempt in itertools.count():
            paid, fresh = self._claim(plan, question, f"{question}#{attempt}", note)
            if fresh:
                return paid
            began = time.monotonic()
            while self._ledger.find(question) is None:
                if paid.sequence in self._failed or max(abs(_seconds_since(paid.at)), time.monotonic() - began) > _PATIENCE:
                    break  # whoever paid has failed: pay again
                time.sleep(0.05)
            else:
                return None
        raise AssertionError("unreachable")

    def _claim(self, plan: Plan, question: str, key: str, note: str) -> tuple[Entry, bool]:
        try:
            return self._ledger.claim(plan.loss, question=question, key=key, note=note, analyst=self._analyst)
        except BudgetExceeded:
            left = self.remaining
            if plan.delta > left.delta and plan.epsilon <= (left.epsilon or 0):
                raise BudgetExceeded(
                    f"of the budget's δ only {float(left.delta):.3g} is left for one question, and this one needs {float(plan.delta):.3g} "
                    "to find its groups or for Gaussian noise: declare its keys and pass delta=0. Nothing was charged."
                ) from None
            raise


@final
@frozen
class Query:
    """A question on a session: plan it for nothing, release it for a price."""

    session: Session = field(repr=False)
    question: Question
    text: str = ""

    def plan(self, epsilon: Number | None = None, delta: Number | None = None) -> Plan:
        """What would happen at this price; reads and spends nothing."""
        return self.session._plan(self.question, epsilon, delta)

    def release(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        error: Mapping[str, float] | None = None,
        size: int | None = None,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
        confidence: Number = CONFIDENCE,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Pay, and let the answers out; the same question at the same price again is free.

        With `error={"mean_cost": 5}` instead of epsilon the least ε is paid for which each output is that close, in a group of `size`,
        wherever it lies; `at={"mean_cost": 120}` says where it does.
        """
        level = confidence_of(confidence)
        if error is not None:
            if epsilon is not None:
                raise Invalid("give epsilon or error, not both: one follows from the other")
            epsilon = self.price(error, size=size, confidence=level, delta=delta, at=at, assume=assume)
        return self.session._release(self.plan(epsilon, delta), level, self.text[:_LONGEST_NOTE], progress)

    def price(
        self,
        error: Mapping[str, float],
        *,
        size: int | None = None,
        confidence: Number = CONFIDENCE,
        delta: Number | None = None,
        at: Mapping[str, float] | None = None,
        assume: Mapping[str, Any] | None = None,
    ) -> Fraction:
        """The least ε, to three digits, at which every output is as close as wished, wherever it lies (or `at` a place); reads nothing."""
        wished = wished_errors(error, self.question)

        def forecast(epsilon: Fraction) -> Forecast:
            return self.session._plan(self.question, epsilon, delta).error(confidence, size, at=at, assume=assume)

        return least_epsilon(forecast, wished, surely=at is None)

    def bias(self, epsilon: Number, delta: Number = 0) -> Release:
        """Pay to learn how many units bounding and clipping touched: those with more rows than count, or with values out of bounds."""
        limits = self.plan(epsilon, None if self.session._ledger.terms.delta else 0).steps.contributions
        return self.session._query(bias_question(self.question, limits), f"bias of: {self.text}", False, None).release(epsilon, delta)

    def dry_run(self, epsilon: Number | None = None, delta: Number | None = None) -> Release:
        """Walk the whole road on made-up data of the declared schema; free, and shown as what it is."""
        from discreet.engines.duckdb.engine import DuckDB

        price = epsilon if epsilon is not None or self.question.epsilon is not None else 1
        plan = self.plan(price, delta)
        with DuckDB.made_up(self.session._catalog.tables) as engine:
            answers = execute(evolve(plan.steps, dialect=engine.dialect), engine)
        said = receipt(plan.steps, answers.plan.found, CONFIDENCE, "dry run on made-up data", 0, "")
        return Release(tuple(outcome(answers, float(CONFIDENCE))), float(CONFIDENCE), said | {"dry_run": True})


def _seconds_since(at: str) -> float:
    return (datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(at)).total_seconds()
