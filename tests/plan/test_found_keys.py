"""Keys of grouping sets that are found: what is searched, the cells that follow, the exact law of all searches together, and the price."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve
from plan.questions import catalog

from discreet.errors import Refused
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.plan import found_keys
from discreet.plan.discovery import Discovered, KeyDiscovery
from discreet.plan.found_keys import OpenKeys
from discreet.plan.key_values import OTHER, Group
from discreet.plan.price import plan_loss
from discreet.plan.resolve import resolve
from discreet.plan.steps import Steps
from discreet.private import reveal
from discreet.query.question import Sets
from discreet.query.sql.read import read
from discreet.run.discovery import discovery_statement
from discreet.session.connect import connect
from discreet.session.session import Session

Row = tuple[int, Any, Any]  # a unit and two keys
Found = dict[tuple[int, ...], tuple[Group, ...]]
SETS: dict[str, tuple[Sets, tuple[int, ...]]] = {
    "ROLLUP (a, b, c)": (((0, 1, 2), (0, 1), (0,), ()), (0, 1, 2)),
    "CUBE (a, b, c)": (tuple(s for n in (3, 2, 1, 0) for s in itertools.combinations(range(3), n)), ()),
    "ROLLUP ((a, b), c)": (((0, 1, 2), (0, 1), ()), (0, 1, 2)),
    "ROLLUP (a, b), CUBE (c)": (((0, 1, 2), (0, 1), (0, 2), (0,), (2,), ()), (0, 1)),
    "GROUPING SETS ((c), (b, a), (b))": (((2,), (0, 1), (1,)), (1, 0)),
}


def open_keys(sets: Sets, values: list[tuple[Any, ...] | None]) -> OpenKeys:
    question = read("SELECT dept, age, age % 3 AS k, COUNT(*) FROM t GROUP BY CUBE (dept, age, k)", catalog())
    return OpenKeys.of(evolve(question, sets=sets), values)


@pytest.mark.parametrize(("sets", "chain"), SETS.values(), ids=SETS)
def test_keys_from_the_top_down_are_a_chain(sets: Sets, chain: tuple[int, ...]) -> None:
    found = open_keys(sets, [None, None, None])
    assert found.chain == chain
    assert found.searches == (*(chain[: n + 1] for n in range(len(chain))), *((place,) for place in range(3) if place not in chain))


def test_declared_keys_are_not_searched() -> None:
    sets, _ = SETS["ROLLUP (a, b, c)"]
    assert open_keys(sets, [("x", "y"), None, None]).searches == ((0, 1), (0, 1, 2))
    assert open_keys(sets, [None, ("x", "y"), None]).searches == ((0,), (0, 2))  # its values are combined with all that is found
    assert open_keys(sets, [None, None, ("x", "y")]).searches == ((0,), (0, 1))
    only = open_keys(sets, [None, ("x", "y"), ("z",)])
    assert (only.chain, only.searches) == ((), ((0,),))


def test_cells_of_a_tree() -> None:
    sets, _ = SETS["ROLLUP (a, b), CUBE (c)"]
    keys = open_keys(sets, [None, None, (True, False)])
    found: Found = {(0,): (("n",), (None,)), (0, 1): (("n", 1), ("n", 2), ("gone", 3))}
    cells = keys.arrangement(found)
    assert cells.nodes[1] == (("n",), (None,), (OTHER,))
    assert cells.nodes[2] == (("n", 1), ("n", 2), ("n", OTHER), (None, OTHER), (OTHER, OTHER))  # nothing below what was not found
    assert cells.layout.parents == ((0, 0, 0), (0, 0, 0, 1, 2))
    assert cells.values == ((True, False, OTHER),)
    assert [axis.size for axis in cells.axes] == [5, 3]
    assert [(one.places, list(one.groups), list(one.cells)) for one in cells.axes[0].numbered] == [
        ((0, 1), [("n", 1), ("n", 2)], [0, 1]),
        ((0,), [("n",), (None,)], [2, 3]),
    ]


def test_every_set_numbers_its_own_cells() -> None:
    """Statistics that do not add up are measured in each set: its cells are in the order of its groups, the others last."""
    for sets, _ in SETS.values():
        keys = open_keys(sets, [None, None, ("x", "y")])
        cells = keys.arrangement(keys.supposed(dict.fromkeys(keys.usual, 3)))
        for places in sets:
            alone, groups = cells.within(places), cells.groups(places)
            assert math.prod(axis.size for axis in alone.axes) == len(groups)
            assert list(alone.groups(tuple(range(len(places))))) == list(groups)


def test_nothing_found_is_one_cell() -> None:
    for sets, _ in SETS.values():
        cells = open_keys(sets, [None, None, None]).arrangement({})
        assert list(cells.groups((0, 1, 2))) == [(OTHER, OTHER, OTHER)]


def test_what_does_not_fit_is_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was paid for, so something is shown."""
    monkeypatch.setattr(found_keys, "MOST_CELLS", 1000)
    for sets, chain in SETS.values():
        keys, found = open_keys(sets, [None, None, tuple(range(7))]), {}
        for search in keys.searches:
            found[search] = [(*group, i) for group in keys.parents(search, found) for i in range(30)]
        cells = keys.arrangement(found).layout
        assert 300 < cells.cells(cells.finest) <= 1000, chain
        (note,) = keys.not_shown(found)
        assert note.startswith("all that was found would make more than 1,000 cells, so the rest is in (other) of ")
        assert keys.not_shown({search: groups[:1] for search, groups in found.items()}) == []


def test_values_spelled_as_the_others_are_others() -> None:
    sets, _ = SETS["ROLLUP (a, b, c)"]
    keys = open_keys(sets, [(OTHER, "x"), None, None])
    assert keys.values[0] == ("x",)
    assert keys.kept((0, 1), [("x", OTHER), ("x", 1), ("y", 1), (OTHER, 1)], {}) == (("x", 1),)


# ── the law of all searches together ─────────────────────────────────────────────────────────────────────────────────


def session(rows: list[Row], limits: dict[str, int] | None, adjacency: Any = "add/remove", **said: Any) -> Session:
    columns: Any = list(zip(*rows, strict=True)) if rows else [[], [], []]
    table = pa.table(dict(zip(("id", "a", "b"), map(pa.array, columns, [pa.int64(), pa.string(), pa.string()]), strict=True)))
    more: dict[str, Any] = {"one_row_per_unit": True} if limits is None else {"contributions": limits}
    return connect({"t": table}, unit="id", epsilon=100, delta=0.5, ledger=":memory:", adjacency=adjacency, **more, **said)


def law(plan: Steps, db: Session) -> dict[Any, float]:
    """The probability of every outcome of all searches, from the statements that run and the mechanisms that decide."""

    def after(searches: tuple[KeyDiscovery, ...], found: Mapping[Any, Any]) -> Iterator[tuple[Any, float]]:
        if not searches:
            yield tuple(sorted((places, frozenset(groups)) for places, groups in found.items())), 1.0
            return
        first, keys = searches[0], plan.open_keys
        assert keys is not None
        statement = discovery_statement(first, plan, Discovered(found=found), db._engine.dialect)
        columns = reveal(db._engine.run(statement.text, statement.given))
        labels = list(zip(*(columns[f"k{i}"].tolist() for i in range(len(first.places))), strict=True))
        mechanism = first.mechanism
        assert isinstance(mechanism, PartitionSelection)
        chances = [mechanism.chance(int(size)) for size in columns["s0"].tolist()]
        for shown in itertools.product([False, True], repeat=len(labels)):
            chance = math.prod(p if yes else 1 - p for yes, p in zip(shown, chances, strict=True))
            kept = keys.kept(first.places, [label for yes, label in zip(shown, labels, strict=True) if yes], found)
            for outcome, rest in after(searches[1:], {**found, first.places: kept}):
                yield outcome, chance * rest

    told: dict[Any, float] = {}
    for outcome, chance in after(plan.key_discoveries, {}):
        told[outcome] = told.get(outcome, 0.0) + chance
    assert math.fsum(told.values()) == pytest.approx(1)
    return told


def delta_at(epsilon: float, one: dict[Any, float], other: dict[Any, float]) -> float:
    """The least δ for which two laws are (ε, δ)-indistinguishable, in the worse direction."""
    gaps = [math.fsum(max(p.get(x, 0) - math.exp(epsilon) * q.get(x, 0), 0) for x in p) for p, q in ((one, other), (other, one))]
    return max(gaps)


ROLLUP = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b)"
CUBE = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY CUBE (a, b)"
BASE: list[Row] = [(1, "p", "x"), (2, "p", "x"), (3, "p", "y")]
ONE_ROW: list[list[Row]] = [[(9, "p", "x")], [(9, "p", "y")], [(9, "p", "z")], [(9, "q", "x")], [(9, None, "x")]]
MANY_ROWS: list[list[Row]] = [[(9, a, b) for a in ("p", "q") for b in ("x", "y")], [(9, "q", "w")] * 5, [(9, "p", b) for b in "xyz"]]


def planned(text: str, limits: dict[str, int] | None, adjacency: str, delta: str = "0.4") -> Steps:
    with session(BASE, limits, adjacency) as db:
        return db.sql(text).plan(3, delta).steps


def largest_delta(plan: Steps, searched: Steps, limits: dict[str, int] | None) -> tuple[float, float]:
    """The largest δ of neighbours at the ε that all searches of a plan cost, and the δ that they cost; with the searches of another."""
    epsilon = float(sum(one.epsilon for one in plan.key_discoveries))
    laws = []
    for rows in ONE_ROW if limits is None else MANY_ROWS:
        with session([*BASE, *rows], limits, plan.adjacency) as db:
            laws.append(law(searched, db))
    if plan.adjacency == "add/remove":
        with session(BASE, limits, plan.adjacency) as db:
            pairs = [(law(searched, db), one) for one in laws]
    else:
        pairs = list(itertools.combinations(laws, 2))
    return max(delta_at(epsilon, *pair) for pair in pairs), float(sum(one.delta for one in plan.key_discoveries))


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("limits", [None, {"rows": 2}], ids=str)
@pytest.mark.parametrize("text", [ROLLUP, CUBE], ids=["rollup", "cube"])
def test_the_law_of_all_searches_is_within_their_price(text: str, limits: dict[str, int] | None, adjacency: str) -> None:
    plan = planned(text, limits, adjacency)
    found, paid = largest_delta(plan, plan, limits)
    assert 0 < found <= paid * (1 + 1e-9)
    if adjacency == "add/remove":
        cheap = evolve(plan, discoveries=tuple(evolve(one, delta=one.delta * 4) for one in plan.discoveries))
        assert largest_delta(plan, cheap, limits)[0] > paid  # thresholds that are too low
        unpaid = evolve(plan, discoveries=tuple(evolve(one, epsilon=one.epsilon / 100) for one in plan.discoveries))
        assert largest_delta(unpaid, plan, limits)[0] > max(found, 0.1)  # searches that are charged almost nothing


def test_a_person_with_many_rows_is_in_as_many_groups_as_allowed() -> None:
    rows: list[Row] = [(9, f"a{i}", f"b{j}") for i in range(6) for j in range(6)]
    for limits, most in (({"rows": 2}, 2), ({"groups": 3, "per_group": 1}, 3)):
        plan = planned(ROLLUP, limits, "add/remove")
        with session(rows, limits) as db:
            for one, found in zip(plan.key_discoveries, ({}, {(0,): [(f"a{i}",) for i in range(6)]}), strict=True):
                statement = discovery_statement(one, plan, Discovered(found=found), db._engine.dialect)
                assert len(reveal(db._engine.run(statement.text, statement.given))["s0"]) == most


def test_a_finer_level_is_searched_below_what_was_found_only() -> None:
    """The rows of other regions are not read: they would take a person's contribution, and a city without its region cannot be shown."""
    rows: list[Row] = [(i, "p" if i % 2 else "q", "x") for i in range(40)]
    plan = planned(ROLLUP, {"rows": 1}, "add/remove")
    with session(rows, {"rows": 1}) as db:
        statement = discovery_statement(plan.key_discoveries[1], plan, Discovered(found={(0,): [("p",)]}), db._engine.dialect)
        assert set(reveal(db._engine.run(statement.text, statement.given))["k0"].tolist()) == {"p"}
    known = resolve(plan, Discovered(found={(0,): [("p",)], (0, 1): [("p", "x"), ("q", "x")]}))
    assert [group for group in known.groups or () if "q" in group] == []


# ── the price ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_price_is_that_of_all_steps(adjacency: str, noise: str) -> None:
    limits = {"rows": 1} if noise == "laplace" else {"groups": 9, "per_group": 1}
    plan = planned(CUBE, limits, adjacency, "1e-3")
    assert plan.budget.noise == noise
    assert sum((one.epsilon for one in plan.discoveries), plan.budget.epsilon) == plan.epsilon
    assert sum((one.delta for one in plan.discoveries), plan.budget.delta) == plan.delta
    assert plan.loss.delta_at(plan.epsilon) <= float(plan.delta) * (1 + 1e-9)
    alone = plan_loss(evolve(plan, discoveries=()))
    assert alone.epsilon_at(plan.delta) < 0.9 * float(plan.epsilon)  # so searches that are charged nothing would be seen
    found = {(0,): [("p",), ("q",)], (1,): [("x",)]}
    for known in (resolve(plan, Discovered(found=found)), resolve(plan, Discovered(found={}))):
        assert plan_loss(known).epsilon_at(plan.delta) <= float(plan.epsilon) * (1 + 1e-9)


def test_the_ledger_is_charged_the_price_once() -> None:
    with session([(i, "p", "x") for i in range(500)], {"rows": 1}) as db:
        first = db.sql(ROLLUP).release(epsilon=3, delta="1e-3")
        again = db.sql(ROLLUP).release(epsilon=3, delta="1e-3")
        assert (first.rows, again.repeated) == (again.rows, True)
        assert db.spent.epsilon == 3
        assert db.spent.delta == first.receipt.delta <= Fraction(1, 1000)


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_be_found_is_refused_before_paying() -> None:
    with session(BASE, {"rows": 1}) as db, pytest.raises(Refused, match="the groups of a, b are not declared, and discovering them"):
        db.sql(ROLLUP).plan(1, 0)
    listed = [str(i) for i in range(1_100)]
    with session(BASE, {"rows": 1}, keys={"a": listed, "b": listed}) as db, pytest.raises(Refused, match="declared keys alone make more"):
        db.sql("SELECT a, b, a || b AS c, COUNT(*) AS n FROM t GROUP BY CUBE (a, b, c)").plan(1, "1e-3")
