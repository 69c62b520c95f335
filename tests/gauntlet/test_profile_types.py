"""Types that a profile finds, under frozen noise: neighbouring CSV files look the same, and all that ran fits the price."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gauntlet.replay import Trace, differences, excesses, run, standing_clock
from gauntlet.test_profile import NOISES, spent

from discreet.engines.duckdb.engine import DuckDB
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.notions import Approx
from discreet.session.profile.plan import ProfilePlan
from discreet.session.session import Session
from discreet.tables.policy import read_policy

POLICY = """
adjacency = "{adjacency}"
[budget]
epsilon = 1000
delta = 0.05
[tables.visits]
unit = "pid"
"""
HEADER = "pid,fare,n,day,at,zip,town,none\n"
BASE = "".join(
    f"{i // 2},{i % 70 / 8},{i % 9},2024-01-{1 + i % 28:02d},2024-01-{1 + i % 28:02d} 10:{i % 60}:01,{i % 99:04d},{'abc'[i % 3]},\n"
    for i in range(300)
)
PEOPLE = {
    "ordinary": "-1,2.5,3,2024-01-05,2024-01-05 10:00:00,0123,a,\n" * 2,
    "broken": "-1,n/a,x,2024-02-30,never,y,,1\n" * 3,
    "padded": "-1,007,007,007,007,007,007,007\n" * 5,
    "fractions": "-1,1.5,1.5,1.5,1.5,1.5,1.5,1.5\n" * 40,
    "far": "-1,1e400,9223372036854775808,99999-01-01,infinity,-infinity,nan,epoch\n-1,0x10,-1e-400,0000-00-00,1_0,1e,é,0b1\n",
    "empty": "-1,,,,,,,\n",
    "quoted": '-1,"1,5"," 12 ","\n","""","0\n1","\t",\'\n',
}
PAIRS = [("", who) for who in PEOPLE]
REPLACED = [("broken", "padded"), ("fractions", "empty"), ("far", "quoted")]


def session(folder: Path, who: str, adjacency: str, base: str = BASE) -> Session:
    place = folder / f"{who or 'base'}.csv"
    place.write_text(HEADER + PEOPLE.get(who, "") + base)
    engine = DuckDB.open({"visits": place}, threads=1)
    declared = read_policy(POLICY.format(adjacency=adjacency)).catalog(
        {"visits": engine.schema("visits")}, {"visits": engine.untyped("visits")}
    )
    with standing_clock():
        return Session(engine, declared, open_ledger(":memory:", Terms("1000", "0.05", declared.protected, declared.adjacency)))


def asking(epsilon: float, delta: float) -> Any:
    """A profile, and a question that reads its types, where they were found."""

    def ask(session: Session) -> Any:
        profile = session.profile("visits", epsilon=epsilon, delta=delta)
        if session._pipeline.catalog.tables[0].column("fare").kind.numeric:  # type: ignore[union-attr]
            session.sql("SELECT AVG(fare) AS m, COUNT(day) AS d FROM visits").release(epsilon=1)
        return profile

    return ask


def both(
    folder: Path, pair: tuple[str, str], adjacency: str = "add/remove", epsilon: float = 300, delta: float = 1e-4, base: str = BASE
) -> tuple[Trace, Trace]:
    ask = asking(epsilon, delta)
    first = run(session(folder, pair[0], adjacency, base), ask, seed=7)
    return first, run(session(folder, pair[1], adjacency, base), ask, script=first.calls)


@pytest.fixture(params=NOISES)
def noise(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every profile has this noise, whichever is smaller."""
    monkeypatch.setattr(ProfilePlan, "noise", request.param)
    return str(request.param)


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_neighbours_look_the_same(tmp_path: Path, pair: tuple[str, str]) -> None:
    first, second = both(tmp_path, pair)
    assert first.error is None
    assert all(f'"kind":"{kind}"' in str(first.text) for kind in ("real", "integer", "date", "timestamp", "text"))
    assert differences(first, second) + excesses(first, second, True) == []


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("pair", REPLACED, ids="-".join)
def test_replacing_looks_the_same(tmp_path: Path, pair: tuple[str, str]) -> None:
    first, second = both(tmp_path, pair, "replace-one")
    assert first.error is None
    assert differences(first, second) + excesses(first, second, False) == []


@pytest.mark.parametrize("pair", [*PAIRS, *REPLACED], ids="-".join)
def test_synthetic_tables_of_types_that_were_found_look_the_same(tmp_path: Path, pair: tuple[str, str]) -> None:
    adjacency = "replace-one" if pair in REPLACED else "add/remove"

    def ask(session: Session) -> Any:
        return session.synthesize("visits", epsilon=300, delta=1e-4, columns=["fare", "n", "day", "town"], workload=2)

    first = run(session(tmp_path, pair[0], adjacency), ask, seed=7)
    second = run(session(tmp_path, pair[1], adjacency), ask, script=first.calls)
    assert first.error is None
    assert all(f'"kind":"{kind}"' in str(first.text) for kind in ("real", "integer", "date", "text"))
    assert differences(first, second) + excesses(first, second, adjacency == "add/remove") == []


@pytest.mark.parametrize("who", ["broken", "padded"])
def test_an_empty_table_looks_like_one_with_a_person(tmp_path: Path, who: str) -> None:
    first, second = both(tmp_path, ("", who), base="")
    assert first.error is None
    assert differences(first, second) + excesses(first, second, True) == []


@pytest.mark.parametrize("epsilon", [0.1, 3, 300])
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("delta", [0, 1e-4])
def test_the_mechanisms_that_ran_fit_the_price(tmp_path: Path, adjacency: str, epsilon: float, delta: float) -> None:
    """Whichever types are found: few at the lowest price, so that values are looked for; histograms at the highest."""
    db = session(tmp_path, "", adjacency)
    plan = db.profile("visits").plan(epsilon, delta)
    trace = run(db, lambda one: one.profile("visits", epsilon=epsilon, delta=delta), seed=1)
    assert trace.error is None
    promised = Approx(plan.epsilon, plan.delta)
    assert plan.loss.within(promised)
    assert spent(trace, adjacency == "replace-one").within(promised)
    assert db.spent.epsilon == plan.epsilon


def test_types_decided_by_exact_counts_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the type follows one person's text, neighbours are read differently."""
    from discreet.private import reveal
    from discreet.session.profile import run as running

    kind_found = running.kind_found

    def decided(self: Any, weight: int) -> Any:
        source = running.Source(self.relation, (), None, self.engine.dialect)
        rows = reveal(self.engine.run(f"SELECT COUNT(*) AS s0 FROM ({source.rows()}) AS r WHERE fare = 'n/a'", source.given))["s0"][0]
        cells = (0.0, 0.0, 0.0 if rows else 900.0, 0.0, 0.0, 0.0, 900.0 if rows else 0.0)
        return {task.column.name: kind_found(running.Counts(cells, 1.0, 5.0)) for task in self.tasks if task.how == "untyped"}

    monkeypatch.setattr(running.Counting, "_types", decided)
    caught = False
    try:
        first, second = both(tmp_path, ("", "broken"))
        caught = bool(differences(first, second) or excesses(first, second, True))
    except AssertionError:
        caught = True  # more mechanisms than were recorded
    assert caught
