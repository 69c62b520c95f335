"""AVG where the number of rows is declared and public: as near as `averaging`, and as private whatever the true number is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve
from gauntlet.replay import differences, excesses, run, standing_clock

import discreet
from discreet.private import reveal
from discreet.run.execute import execute
from discreet.session import run as road
from discreet.tables.kind import Kind
from discreet.tables.policy import Policy, read_policy

SIZE = 600
VALUES = [float(i % 100) * 100 for i in range(SIZE)]
ASKED = "SELECT AVG(x) AS m FROM p"
TRUE = sum(VALUES) / SIZE


def session(values: list[Any] = VALUES, ids: list[Any] | None = None, **more: Any) -> Any:
    said = {"size": SIZE, "adjacency": "replace-one", "not_null": ["x"], "one_row_per_unit": True, "unit": "id"} | more
    units = list(range(len(values))) if ids is None else ids
    table = pa.table(
        {
            "id": pa.array(units, pa.int64()),
            "x": pa.array(values, pa.float64()),
            "g": pa.array([i % 2 for i in range(len(values))], pa.int64()),
        }
    )
    return discreet.connect({"p": table}, epsilon=10**6, bounds={"x": (0, 20_000)}, keys={"g": [0, 1]}, ledger=":memory:", **said)


def stats(db: Any, text: str) -> list[tuple[str, int | None]]:
    """The totals of a question, and the public number of rows that a mean of each is divided by."""
    steps = db.sql(text).plan(epsilon=1).steps
    sizes = [steps.available_totals.public_size(one.total.factors[0].expr) if one.total.factors else None for one in steps.totals]
    return [(one.total.form, size) for one, size in zip(steps.totals, sizes, strict=True)]


# ── how near ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("unit", ["id", discreet.each_row()], ids=str)
def test_the_error_is_that_of_averaging(unit: Any) -> None:
    mechanism, _ = discreet.mechanisms.averaging(VALUES, lambda x: x, size=SIZE, lower=0, upper=20_000, epsilon=1)
    plan = session(unit=unit).sql(ASKED).plan(epsilon=1)
    assert plan.error()["m"] == pytest.approx(mechanism.error(0.95), rel=1e-5) == pytest.approx(99.858, abs=0.001)
    today = session(size=None, unit=unit).sql(ASKED).plan(epsilon=1)
    assert today.error(size=SIZE)["m"] > 200
    assert "divided by the declared size, 600" in str(plan.explain())
    assert "divided by" not in str(today.explain())


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """At 95 %, 262 of 300 or fewer have a chance below 10⁻⁶."""
    db, held = session(), 0
    for i in range(300):
        release = db.sql(ASKED).release(epsilon=1 + Fraction(i, 10**6))
        low, high = release.intervals[0]["m"]
        assert high - low == pytest.approx(2 * 99.858, rel=1e-3)
        held += low <= TRUE <= high
    assert held > 262


def test_expressions_of_columns_without_null_are_means_too() -> None:
    assert stats(session(), "SELECT AVG(2 * x + 1) AS m FROM (SELECT x FROM p) AS q") == [("product", SIZE)]


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("SELECT g, AVG(x) AS m FROM p GROUP BY g", {}),
        ("SELECT AVG(x) AS m FROM p WHERE x > 5", {}),
        ("SELECT AVG(x) FILTER (WHERE x > 5) AS m FROM p", {}),
        (ASKED, {"not_null": ()}),
        (ASKED, {"size": None}),
        ("SELECT AVG(x) AS m FROM (SELECT * FROM p UNION ALL SELECT * FROM p) AS q", {"contributions": {"rows": 2}}),
        ("SELECT AVG(s) AS m FROM (SELECT id, MAX(x) AS s FROM p GROUP BY id) AS q", {}),
        ("SELECT AVG(a.x) AS m FROM p AS a JOIN p AS b ON a.id = b.id", {}),
    ],
)
def test_elsewhere_the_count_is_paid_for_as_before(text: str, more: dict[str, Any]) -> None:
    db = session(**more)
    forms = [form for form, size in stats(db, text) if size is None]
    assert {"product"} < set(forms)
    assert forms == [form for form, _ in stats(session(**more | {"size": None}), text)]


# ── private whatever the true number is ──────────────────────────────────────────────────────────────────────────────


NEIGHBOURS: list[tuple[list[Any], list[Any]]] = [
    (VALUES, [20_000.0, *VALUES[1:]]),
    ([0.0, *VALUES[1:]], [1e300, *VALUES[1:]]),
    ([None, *VALUES[1:]], [float("nan"), *VALUES[1:]]),
    (VALUES[1:], VALUES),  # replaced by somebody without a row
    ([], [20_000.0]),
    (VALUES * 3, [*VALUES * 3, float("-inf")]),
]


def problems(size: int) -> list[str]:
    found = []
    for before, after in NEIGHBOURS:
        for asked in (ASKED, "SELECT AVG(x) AS m, COUNT(*) AS n, VARIANCE(x) AS v, SUM(x) AS s FROM p"):
            traces: list[Any] = []
            for values in (before, after):
                with standing_clock():
                    db = session(values, size=size)
                traces.append(run(db, lambda db, asked=asked: db.sql(asked).release(epsilon=1), traces[0].calls if traces else None))
            assert traces[0].text is not None
            found += differences(*traces) + excesses(*traces, add_remove=False)
    return found


@pytest.mark.parametrize("size", [SIZE, 1, 7, 10**12])
def test_neighbours_look_the_same_whatever_size_is_declared(size: int) -> None:
    assert problems(size) == []


def test_dividing_by_the_true_number_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(plan: Any, engine: Any, progress: Any = None) -> Any:
        rows = max(int(reveal(engine.run("SELECT COUNT(*) AS n FROM p"))["n"][0]), 1)
        of = plan.available_totals
        return execute(evolve(plan, available_totals=evolve(of, declared_size=of.declared_size and rows)), engine)

    monkeypatch.setattr(road, "execute", careless)
    assert "rows" in problems(SIZE)


def test_a_wrong_size_is_off_in_proportion() -> None:
    found = session(size=2 * SIZE).sql(ASKED).release(epsilon=10**5).rows[0]["m"]
    assert found == pytest.approx(10_000 + (TRUE - 10_000) / 2, abs=10)


# ── how it is declared ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"adjacency": "add/remove"}, "is not public under"),
        ({"one_row_per_unit": False}, "declare one_row_per_unit = true"),
        ({"size": 0}, "size"),
        ({"size": 2.5}, "size"),
        ({"size": {"q": 5}}, "there is no table q"),
    ],
)
def test_sizes_that_are_none(more: dict[str, Any], said: str) -> None:
    with pytest.raises(discreet.PolicyError, match=said):
        session(**more)


def test_of_several_tables_it_is_said_whose() -> None:
    many = {"epsilon": 1, "unit": "id", "one_row_per_unit": True, "adjacency": "replace-one"}
    with pytest.raises(discreet.PolicyError, match="name the table"):
        Policy.of_arguments(["p", "q"], size=5, **many)
    policy = Policy.of_arguments(["p", "q"], size={"q": 5}, **many)
    assert [table.size for table in policy.tables] == [None, 5]
    assert [table.size for table in Policy.of_arguments(["p", "q"], size=5, public=["p"], **many).tables] == [None, 5]


def test_in_a_policy() -> None:
    text = 'adjacency = "replace-one"\nbudget.epsilon = 1\n[tables.p]\nunit = "each row"\n'
    kinds = {"p": {"x": Kind.REAL}}
    plain, sized, other = (read_policy(text + more).catalog(kinds) for more in ("", "size = 7\n", "size = 8\n"))
    assert [catalog.tables[0].size for catalog in (plain, sized, other)] == [None, 7, 8]
    assert len({catalog.digest for catalog in (plain, sized, other)}) == 3  # another size is another policy: no stored answer is given
    assert "size" not in plain.to_json()["tables"][0]  # and without one the digest is what it was
    with pytest.raises(discreet.PolicyError, match="size: is the number of protected units"):
        read_policy('budget.epsilon = 1\ntables.q.unit = "id"\n[tables.p]\npublic = true\nsize = 7\n')


def test_a_project_file_says_it_itself(tmp_path: Any) -> None:
    place = tmp_path / "discreet.toml"
    place.write_text("")
    with pytest.raises(discreet.Error, match="declares everything itself"):
        discreet.connect(place, size=5)
