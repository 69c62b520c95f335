"""Plans: what they cost, which noise they choose, what they find first."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some
from plan.questions import DELTA, DEPTS, EPSILON, catalog

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.errors import Refused
from discreet.loss.notions import Approx, Pure
from discreet.plan.budget import split
from discreet.plan.compile import compile_plan
from discreet.plan.discovery import KeyDiscovery, LimitDiscovery
from discreet.plan.range_discovery import RangeDiscovery
from discreet.query.sql.read import read
from discreet.session.plan import Plan
from discreet.tables.catalog import Catalog
from discreet.tables.unit import EachRow


def plan(sql: str, tables: Catalog, epsilon: Fraction = EPSILON, delta: Fraction = DELTA) -> Plan:
    return Plan(compile_plan(read(sql, tables), tables, epsilon, delta, lambda table, column: ()), DUCKDB)


QUESTIONS = [
    "SELECT COUNT(*) FROM t",
    "SELECT dept, COUNT(*), SUM(x), AVG(x) FROM t GROUP BY dept",
    "SELECT dept, COUNT(DISTINCT id), VARIANCE(x), STDDEV(x) FROM t GROUP BY dept",
    "SELECT MEDIAN(x), QUANTILE(x, 0.9), MAX(x) FROM t",
    "SELECT dept, MODE(age), COUNT(DISTINCT age) FROM t GROUP BY dept",
    "SELECT age, COUNT(*) FROM t GROUP BY age",
    "SELECT SUM(x) / COUNT(*) AS r, AVG(CASE WHEN x > 10 THEN 1 ELSE 0 END) AS share FROM t",
    "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)",
]
CATALOGS = [
    catalog({"rows": 5}),
    catalog({"groups": 3, "per_group": 2}),
    catalog({"groups": 100, "per_group": 2}),
    catalog(),
    catalog({"groups": 2}),
    catalog(each=True),
    catalog({"rows": 5}, keys=None),
    catalog({"rows": 5}, bounds=None),
    catalog(keys=None, bounds=None),
    catalog({"rows": 5}, adjacency="replace-one"),
    catalog({"rows": 5}, keys=None, adjacency="replace-one"),
]


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("tables", CATALOGS, ids=range(len(CATALOGS)))
def test_a_plan_costs_what_was_asked(sql: str, tables: Catalog) -> None:
    if "GROUP BY id" in sql and isinstance(tables.tables[0].unit, EachRow):
        with pytest.raises(Refused, match="unit"):  # a row has nothing to aggregate within
            plan(sql, tables)
        return
    made = plan(sql, tables)
    epsilon, delta = made.loss.basic
    assert epsilon == EPSILON
    assert delta == made.delta <= DELTA
    assert made.loss.within(Approx(EPSILON, DELTA))
    if tables.table("t").column("dept").keys is not None or "dept" not in sql:  # type: ignore[union-attr]
        pure = plan(sql, tables, delta=Fraction(0))
        assert pure.loss.within(Pure(EPSILON))
        assert pure.delta == 0


def test_epsilons_of_totals_add_up() -> None:
    made = plan(QUESTIONS[1], catalog({"rows": 5}), delta=Fraction(0)).steps
    assert sum(total.mechanism.epsilon for total in made.totals) == EPSILON


@given(some.dictionaries(some.integers(), some.floats(0, 1e9), min_size=1, max_size=20), some.sampled_from([1 / 3, 1 / 2]))
def test_shares_add_up_to_one(weights: dict[int, float], power: float) -> None:
    shares = split(weights, power)
    assert sum(shares.values()) == 1
    assert all(share > 0 for share in shares.values())


def test_noise_is_chosen_by_its_error() -> None:
    """Many groups per unit: ℓ₂ grows with the root, so Gaussian noise errs less; few: Laplace does."""
    sql = QUESTIONS[1]
    assert plan(sql, catalog({"groups": 100, "per_group": 2})).steps.budget.noise == "gaussian"
    assert plan(sql, catalog({"groups": 1, "per_group": 2})).steps.budget.noise == "laplace"
    few, many = (plan(sql, catalog({"groups": 100, "per_group": 2}), delta=delta).error(size=1000) for delta in (Fraction(0), DELTA))
    assert few["count"] > many["count"]  # type: ignore[operator]


def test_what_is_not_declared_is_found() -> None:
    found = plan(QUESTIONS[1], catalog(keys=None, bounds=None)).steps
    assert [type(find) for find in found.discoveries] == [LimitDiscovery, KeyDiscovery, RangeDiscovery]
    assert not found.resolved
    assert sum(find.epsilon for find in found.discoveries) <= EPSILON / 2
    assert plan(QUESTIONS[1], catalog({"rows": 5})).steps.discoveries == ()
    assert plan("SELECT COUNT(DISTINCT id) FROM t", catalog()).steps.discoveries == ()
    assert plan("SELECT COUNT(*) FROM t", catalog(each=True)).steps.discoveries == ()


def test_undeclared_groups_need_a_delta() -> None:
    with pytest.raises(Refused, match=r'keys=\{"dept"'):
        plan(QUESTIONS[1], catalog(keys=None), delta=Fraction(0))


def forms(made: Plan) -> set[str]:
    """What the totals of a plan are: sums are centred, or plain where they are taken from 0."""
    totals = [noisy.total for noisy in made.steps.totals]
    return {("centred" if total.factors[0].grid.mid else "plain") if total.factors else total.form for total in totals}


def test_a_count_is_shared() -> None:
    """COUNT(*) serves AVG where the column has no NULL; else values that are there are counted apart."""
    sql = "SELECT COUNT(*), AVG(x) FROM t"
    assert forms(plan(sql, catalog({"rows": 5}, nullable=False))) == {"rows", "centred"}
    assert forms(plan(sql, catalog({"rows": 5}))) == {"rows", "present", "centred"}


def test_sums_are_centred_where_that_errs_less() -> None:
    narrow = catalog({"rows": 5}, bounds=(90, 100), nullable=False)
    assert forms(plan("SELECT SUM(x) FROM t", narrow)) == {"plain"}
    assert forms(plan("SELECT COUNT(*), COUNT(x), SUM(x), AVG(x) FROM t", narrow)) == {"rows", "centred"}


def test_public_groups_are_all_there() -> None:
    made = plan("SELECT dept, age > 60 AS old, COUNT(*) FROM t GROUP BY dept, age > 60", catalog({"rows": 1})).steps
    assert tuple(made.groups or ()) == tuple((dept, old) for dept in DEPTS for old in (False, True))


def test_one_row_for_each_unit_needs_no_bounding() -> None:
    made = plan("SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)", catalog()).steps
    assert [type(find) for find in made.discoveries] == [RangeDiscovery]  # only how large n may be


def test_replacing_costs_more() -> None:
    once, twice = (plan(QUESTIONS[1], catalog({"rows": 5}, adjacency=a)).error(size=1000) for a in ("add/remove", "replace-one"))
    assert twice["count"] == pytest.approx(2 * once["count"], rel=0.01)  # type: ignore[operator]


def test_the_forecast_by_size() -> None:
    made = plan("SELECT dept, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY dept", catalog({"rows": 5}))
    table = made.error()
    assert isinstance(table["n"], float)
    assert isinstance(table["m"], dict)
    assert table["m"][1_000] == pytest.approx(10 * table["m"][10_000], rel=1e-3)
    assert made.error(size=1_000)["m"] == pytest.approx(table["m"][1_000])
    assert "±" in repr(table)


def test_open_bounds_can_be_assumed() -> None:
    made = plan("SELECT AVG(x) AS m FROM t", catalog({"rows": 5}, bounds=None))
    assert made.error(size=1000)["m"] is None
    narrow, wide = (made.error(size=1000, assume={"x": (0, width)})["m"] for width in (10, 100))
    assert wide == pytest.approx(10 * narrow, rel=0.01)  # type: ignore[operator]


def test_the_chance_to_be_shown() -> None:
    made = plan(QUESTIONS[1], catalog({"rows": 2}, keys=None))
    assert made.shown(0) == 0
    assert 0 < made.shown(1) <= float(DELTA)
    assert made.shown(10_000) > 0.999
    assert plan(QUESTIONS[1], catalog({"rows": 2})).shown(0) == 1
