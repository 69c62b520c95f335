"""The one road: a question is read, planned, paid for, run and released."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from attrs import evolve, frozen

from discreet import exact, parameter
from discreet.engines.dialect import DUCKDB, Dialect
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.chain import digest as digest_of
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.terms import Terms
from discreet.loss import record
from discreet.plan.canonical import digest, plain
from discreet.plan.compile import compile_plan
from discreet.plan.execute import Answers, execute
from discreet.plan.outcome import outcome
from discreet.plan.plan import Plan
from discreet.plan.question import Question
from discreet.plan.steps import Steps
from discreet.release import Release
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Value
from discreet.tables.policy import Policy
from discreet.tables.unit import Unit

QUESTIONS_OF_DELTA = 32  # a question's δ is this part of the budget's, unless it is said
CONFIDENCE = Fraction(95, 100)
FORMAT = 1  # of receipts


@final
class Session:
    """A connection to private tables: ask in SQL or in Python, see the error first, pay from one budget."""

    def __init__(self, engine: Engine, catalog: Catalog, ledger: Ledger, dialect: Dialect = DUCKDB) -> None:
        self._engine, self._catalog, self._ledger, self._dialect = engine, catalog, ledger, dialect

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def sql(self, text: str, *, dialect: str = "duckdb", other: bool = False) -> Query:
        """Ask in SQL; nothing is read or spent until `release`."""
        from discreet.sql.read import read

        return Query(self, _with_other(read(text, self._catalog, dialect), other))

    def ask(self, text: str, **price: Any) -> Release:
        """Ask in SQL and release at once."""
        return self.sql(text).release(**price)

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Any:
        """The largest single further question that is still admitted."""
        return self._ledger.remaining

    @property
    def spent(self) -> Any:
        """What was charged so far."""
        return self._ledger.spent

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── the road ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, question: Question, epsilon: Number | None, delta: Number | None) -> Plan:
        budget = self._ledger.terms
        price = parameter.some_epsilon(epsilon) if epsilon is not None else question.epsilon
        if price is None:
            raise Invalid("say how much this question may cost: epsilon=0.1, or in SQL WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1)")
        mass = parameter.any_delta(delta) if delta is not None else question.delta
        if mass is None:
            mass = budget.delta / QUESTIONS_OF_DELTA
        return Plan(compile_plan(question, self._catalog, price, mass, self._dialect, self._values_of))

    def _values_of(self, table: str, column: str) -> tuple[Value, ...]:
        """The values of a public table's column, in order."""
        name, place = self._dialect.identifier(table), self._dialect.identifier(column)
        found = self._engine.read_public(f"SELECT DISTINCT {place} AS v FROM {name} WHERE {place} IS NOT NULL ORDER BY v")
        return tuple(found["v"].tolist())

    def _release(self, plan: Plan, confidence: Fraction) -> Release:
        question = question_digest(plan.steps)
        known = self._ledger.find(question)
        if known is not None:
            return Release.from_text(known["release"], repeated=True)
        paid = self._ledger.spend(plan.loss, question=question)
        answers = execute(plan.steps, self._engine)
        release = Release(
            tuple(outcome(answers, float(confidence))), float(confidence), receipt(answers, question, paid.sequence, paid.hash)
        )
        kept = self._ledger.store(paid, {"release": release.to_text()})
        return Release.from_text(kept.body["release"]["release"])


@final
@frozen
class Query:
    """A question on a session: plan it for nothing, release it for a price."""

    session: Session
    question: Question

    def plan(self, epsilon: Number | None = None, delta: Number | None = None) -> Plan:
        """What would happen at this price; reads and spends nothing."""
        return self.session._plan(self.question, epsilon, delta)

    def release(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Release:
        """Pay, and let the answers out; the same question at the same price again is free."""
        return self.session._release(self.plan(epsilon, delta), exact.confidence_level(confidence))


def _with_other(question: Question, other: bool) -> Question:
    if other and not question.keys:
        raise Invalid("without GROUP BY there are no other groups")
    return evolve(question, other=other) if other else question


def question_digest(plan: Steps) -> str:
    """The name of a question at its price, under its policy and for its version of the data."""
    return digest((plan.question, plan.epsilon, plan.delta, plan.policy, plan.version))


def receipt(answers: Answers, question: str, sequence: int, entry: str) -> dict[str, Any]:
    """What was asked and done: enough to check the price and the ledger's entry; nothing of the data's content, size or time."""
    plan = answers.plan
    said = {
        "format": FORMAT,
        "question": question,
        "asked": plain(plan.question),
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "protected": plan.protected,
        "adjacency": plan.adjacency,
        "policy": plan.policy,
        "version": plan.version,
        "loss": record.to_json(plan.loss),
        "ledger": {"sequence": sequence, "entry": entry},
    }
    return said | {"hash": digest_of(said)}


# ── connecting ───────────────────────────────────────────────────────────────────────────────────────────────────────


def connect(
    data: Any,
    *,
    unit: str | Unit | None = None,
    epsilon: Number | None = None,
    budget: Any = None,
    delta: Number = 0,
    bounds: Mapping[str, Any] | None = None,
    keys: Mapping[str, Any] | None = None,
    contributions: Mapping[str, int] | None = None,
    columns: Mapping[str, str] | None = None,
    public: Collection[str] = (),
    one_row_per_unit: bool = False,
    adjacency: str = "add/remove",
    version: str = "1",
    ledger: str | os.PathLike[str] | None = None,
    witness: str | os.PathLike[str] | None = None,
    engine: Any = None,
) -> Session:
    """Open data for private questions."""
    from discreet.engines.duckdb import DuckDB

    sources = dict(data) if isinstance(data, Mapping) else {_name_of(data): data}
    policy = Policy.of_arguments(
        list(sources),
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        bounds=bounds,
        keys=keys,
        contributions=contributions,
        columns=columns,
        one_row_per_unit=one_row_per_unit,
        public=public,
        adjacency=adjacency,
        version=version,
    )
    opened = DuckDB.open(sources, policy.declared)
    catalog = policy.catalog({name: opened.schema(name) for name in sources})
    place = ledger if ledger is not None else _beside(data)
    return Session(opened, catalog, open_ledger(place, Terms(policy.epsilon, policy.delta, catalog.protected, catalog.adjacency), witness))


def _name_of(data: Any) -> str:
    return Path(data).name.split(".")[0] if isinstance(data, str | os.PathLike) else "data"


def _beside(data: Any) -> str:
    return f"{os.fspath(data)}.ledger" if isinstance(data, str | os.PathLike) else ":memory:"
