"""A thousand questions give the same whole numbers before noise on every engine, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from attrs import frozen
from engines.beliefs import crowd
from engines.beliefs.parity import Waiting, differences, record, spelled_for
from engines.beliefs.questions import at_random, in_sql
from engines.beliefs.stores import Stores
from gauntlet.world import POLICY

from discreet.engines.duckdb.dialect import DuckDBDialect
from discreet.engines.engine import Engine
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.plan.steps import Steps
from discreet.query.statistics.registry import registered
from discreet.query.statistics.spelling import Spelling
from discreet.session.session import Session
from discreet.tables.policy import read_policy

OTHERS = ["postgres", "spark"]
THREADS = {"postgres": 1, "spark": 4}  # that ask at the same time
IN_SQL, AT_RANDOM = 600, 400
QUICK = (range(0, 420, 10), range(0, 300, 10))  # every tenth of the first, so that all sorts are there
QUICKER = (range(0, 420, 20), range(0, 300, 20))  # for Spark, which takes half a second for each
LIGHT = 12_000  # characters of a statement; questions with longer ones are for the long suite


@frozen(eq=False)
class Clinic:
    """The tables in the first engine, and sessions on it."""

    engine: Engine
    sessions: dict[str, Session]

    def plans(self, numbers: Iterable[int], random: Iterable[int]) -> Iterable[tuple[int, Steps]]:
        for number in numbers:
            if (plan := in_sql(number, self.sessions.__getitem__)) is not None:
                yield number, plan
        for number in random:
            session = self.sessions["replace-one" if number % 4 == 0 else "add/remove"]
            yield IN_SQL + number, at_random(number, session._pipeline.catalog, session._pipeline.public_values)


@pytest.fixture(scope="module")
def clinic(stores: Stores) -> Clinic:
    engine, sessions = stores.open("duckdb", crowd.tables()), {}
    for adjacency in ("add/remove", "replace-one"):
        catalog = read_policy(POLICY.format(adjacency=adjacency, delta="0.05")).catalog(
            {name: engine.schema(name) for name in crowd.tables()}
        )
        sessions[adjacency] = Session(engine, catalog, open_ledger(":memory:", Terms("1000", "0.05", catalog.protected, adjacency)))
    return Clinic(engine, sessions)


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest, stores: Stores) -> Engine:
    return stores.open(request.param, crowd.tables(), pieces=2)


def waiting(plans: Iterable[tuple[int, Steps]], first: Engine, other: Engine, longest: int | None = None) -> list[Waiting]:
    """Every statement that the other engine would run, and what the first gave; questions with longer statements are left out."""
    found: list[Waiting] = []
    for number, plan in plans:
        recorded = record(plan, first, seed=number)
        if longest is not None and max(len(statement.sql) for statement in recorded.statements) > longest:
            continue
        there = spelled_for(plan, other, recorded)
        assert len(there) == len(recorded.results)
        found += [Waiting(number, place, *pair) for place, pair in enumerate(zip(there, recorded.results, strict=True))]
    return found


def held(other: Engine, statements: Sequence[Waiting], least: int) -> None:
    wrong = differences(other, statements, THREADS[other.name])
    asked = len({one.question for one in statements})
    print(f"\n{other.name}: {asked} questions, {len(statements)} statements, {len(wrong)} differences")
    assert not wrong, "\n".join(wrong[:10])
    assert asked >= least


def test_the_same_integers(clinic: Clinic, other: Engine) -> None:
    Stores.interpret(other)
    few = other.name == "spark"
    held(other, waiting(clinic.plans(*(QUICKER if few else QUICK)), clinic.engine, other, longest=LIGHT), least=25 if few else 60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_the_same_integers_a_thousand_times(part: int, clinic: Clinic, other: Engine) -> None:
    """The last part as Spark runs it for its users, compiled and replanned; the others as it is quick."""
    Stores.interpret(other, on=part < 9)
    numbers = range(part * IN_SQL // 10, (part + 1) * IN_SQL // 10), range(part * AT_RANDOM // 10, (part + 1) * AT_RANDOM // 10)
    held(other, waiting(clinic.plans(*numbers), clinic.engine, other), least=99)


def test_the_same_schema_and_public_values(clinic: Clinic, other: Engine) -> None:
    for name in crowd.tables():
        assert other.schema(name) == clinic.engine.schema(name)
    for table, column in (("sites", "region"), ("sites", "id"), ("tags", "tag"), ("sites", "beds")):
        asked = [engine.dialect.identifier(name) for engine in (other,) for name in (column, table)]
        found = other.read_public(f"SELECT DISTINCT {asked[0]} AS v FROM {asked[1]} WHERE {asked[0]} IS NOT NULL ORDER BY v")
        assert tuple(found["v"].tolist()) == clinic.sessions["add/remove"]._pipeline.public_values(table, column)


# ── the test itself ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_rows_are_awkward() -> None:
    visits = crowd.tables()["visits"]
    assert 2_000 <= visits.num_rows <= 5_000
    assert crowd.awkwardness(visits) == {"NULL", "NaN", "infinite", "-0.0"}
    heaviest = visits["pid"].value_counts().to_pylist()
    assert max(one["counts"] for one in heaviest) > 10 * visits.num_rows / len(heaviest)


def test_the_questions_are_of_all_sorts(clinic: Clinic) -> None:
    """Every kind of statement is there, and most of them find something."""
    sorts_seen: set[str] = set()
    filled = statements = 0
    for _, plan in clinic.plans(*QUICK):
        recorded = record(plan, clinic.engine, seed=1)
        sorts_seen |= {type(find).__name__ for find in plan.discoveries} | {plan.budget.noise, type(plan.question.relation).__name__}
        sorts_seen |= {type(statistic).__name__ for _, statistic in plan.question.statistics} | (
            {"other"} if plan.question.other else set()
        )
        statements += len(recorded.results)
        filled += sum(any(abs(value) > 0 for value in _wholes(result)) for result in recorded.results)
    assert {
        "KeyDiscovery",
        "RangeDiscovery",
        "LimitDiscovery",
        "laplace",
        "gaussian",
        "other",
        "Join",
        "PerUnit",
        "Stack",
        "Select",
        "Where",
        "Scan",
    } <= sorts_seen
    assert {statistic.__name__ for statistic in registered() if not issubclass(statistic, Spelling)} <= sorts_seen
    assert filled > 0.7 * statements


def _wholes(columns: Any) -> list[int]:
    return [value for name, values in columns.items() if name[0] in "sw" for value in values.tolist()]


@pytest.mark.parametrize("broken", ["floor_divide", "floor", "hash_order", "shifted"])
def test_a_broken_primitive_is_found(broken: str, clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that spells one primitive a little differently gives other integers, which is seen."""
    right = getattr(DuckDBDialect, broken)
    wrong = {
        "floor_divide": lambda self, whole, by: f"({right(self, whole, by)} + 1)",
        "floor": lambda self, real: f"ROUND({real})",
        "hash_order": lambda self, columns, salt: right(self, columns, salt + "!"),
        "shifted": lambda self, total, bits: f"({right(self, total, bits)} + 1)",
    }
    asked = [found for found in clinic.plans(range(30, 90), ()) if broken != "hash_order" or found[1].key_discoveries]
    plans = [(number, plan, record(plan, clinic.engine, seed=number)) for number, plan in asked[:12]]
    monkeypatch.setattr(DuckDBDialect, broken, wrong[broken])
    statements = [
        Waiting(number, place, *pair)
        for number, plan, recorded in plans
        for place, pair in enumerate(zip(spelled_for(plan, clinic.engine, recorded), recorded.results, strict=True))
    ]
    assert differences(clinic.engine, statements, 1)
