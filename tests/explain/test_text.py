"""Explanations: everything a reader asks, nothing from the data, theorems as they stand in the code."""

from __future__ import annotations

import inspect
import json

import polars
import pytest
from session.clinic import DEPARTMENTS, clinic, visits

import discreet
from discreet.explain.facts import theorem
from discreet.explain.text import Explanation
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.session.connect import connect

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost, MEDIAN(cost) AS middle FROM visits GROUP BY dept"


def explained(sql: str = SQL, epsilon: float = 1, **declared: object) -> Explanation:
    with clinic(**declared) as db:
        return db.sql(sql).plan(epsilon).explain()


def test_it_says_who_is_protected_and_what_that_means() -> None:
    text = str(explained())
    assert "each patient_id; neighbours are tables that differ by the presence of all rows of one unit" in text
    assert "at most 2.72-fold" in text
    frame = polars.DataFrame({"cost": [1.0]})
    with discreet.connect({"t": frame}, unit=discreet.each_row(), epsilon=1, ledger=":memory:") as db:
        rows = str(db.sql("SELECT COUNT(*) AS n FROM t").plan(1).explain())
    assert "each row; neighbours are tables that differ by the presence of one row\n" in rows
    replaced = str(explained(adjacency="replace-one"))
    assert "differ by replacing all rows of one unit" in replaced
    assert "replacing a unit changes both contributions" in " ".join(replaced.split())


def test_it_says_how_rows_are_bounded_and_why() -> None:
    assert "each row of a unit with n > 3 rows has weight 3/n (the policy says so)" in str(explained())
    assert "by rows, discovered privately first (nothing was declared" in str(explained(contributions=None))
    by_groups = str(explained("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", contributions={"groups": 2, "per_group": 1}))
    assert "a unit with c > 1 rows in a group" in by_groups
    with connect({"visits": visits()}, unit="patient_id", epsilon=1, one_row_per_unit=True, ledger=":memory:") as db:
        assert "each unit has one row, so nothing is bounded" in str(db.sql("SELECT COUNT(*) AS n FROM visits").plan(1).explain())


def test_public_groups_are_listed_and_found_ones_have_their_chance() -> None:
    assert f"including empty ones: {', '.join(DEPARTMENTS)}" in str(explained())
    found = explained(keys=None)
    told = found.to_json()["groups"]
    chances = dict(told["chances"])
    assert chances[1] < 1e-6
    assert chances[told["half"]] >= 0.5
    assert chances[told["most"]] >= 0.95
    assert f"shown with probability 50 % from {told['half']} units" in str(found)
    assert [find["mechanism"] for find in found.to_json()["discoveries"]] == ["WeightedGaussianSelection"]


def test_a_selection_that_waits_for_its_limit_may_be_either() -> None:
    told = explained(keys=None, contributions=None).to_json()
    assert told["discoveries"][1]["mechanism"] == "PartitionSelection or WeightedGaussianSelection"


def test_each_total_has_its_sensitivity_and_its_reason() -> None:
    totals = {total["adds"]: total for total in explained().to_json()["totals"]}
    rows, cost = totals["1 for each row"], next(total for adds, total in totals.items() if "clamped" in adds)
    assert rows["sensitivity"] == pytest.approx(3)
    assert rows["scale"] == pytest.approx(3 / float(rows_share(rows)), rel=1e-3)
    assert cost["sensitivity"] == pytest.approx(3 * 250, rel=1e-5)
    assert "a unit's weights add up to at most 3" in cost["why"]
    assert "a row adds at most 250" in cost["why"]


def rows_share(told: dict[str, str]) -> float:
    numerator, _, denominator = told["epsilon"].partition("/")
    return int(numerator) / int(denominator or 1)


def test_shares_add_up_to_the_price() -> None:
    told = explained().to_json()
    shares = [rows_share(part) for part in [*told["totals"], *told["choices"]]]
    assert sum(shares) == pytest.approx(1, rel=1e-6)
    waiting = explained(keys=None, contributions=None).to_json()
    parts = [*waiting["discoveries"], *waiting["choices"], waiting["together"]]
    assert sum(map(rows_share, parts)) == pytest.approx(1)


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian, Quantile])
def test_theorems_are_taken_from_the_docstrings(mechanism: type) -> None:
    found = theorem(mechanism)
    assert found.startswith("Theorem (")
    assert found in " ".join(inspect.cleandoc(mechanism.__doc__ or "").split())
    assert "Accuracy." not in found
    assert theorem(int) == ""


def test_every_mechanism_has_its_theorem() -> None:
    assert set(explained().to_json()["theorems"]) == {"Laplace", "QuantileInterval"}
    assert set(explained(keys=None, contributions=None).to_json()["theorems"]) == {
        "Laplace",
        "SparseVector",
        "QuantileInterval",
        "PartitionSelection",
        "WeightedGaussianSelection",
    }


def test_the_loss_by_every_route_and_for_groups_of_people() -> None:
    loss = explained().to_json()["loss"]
    assert [route["delta"] for route in loss["routes"]] == ["0", "1/1000000"]
    assert loss["routes"][0]["epsilons"]["basic"] == 1
    assert set(loss["routes"][1]["epsilons"]) == {"basic", "advanced", "zcdp", "renyi", "gdp", "pld"}
    assert [(group["units"], group["epsilon"]) for group in loss["people"]] == [(2, 2.0), (5, 5.0), (10, 10.0)]
    found = explained(keys=None).to_json()["loss"]["people"]
    assert all(group["epsilon"] <= group["units"] for group in found)
    assert found[1]["delta"] > 5 * found[0]["delta"] / 2


def test_all_statements_are_shown() -> None:
    told = explained().to_json()
    assert len(told["statements"]) == 2
    assert (told["scans"], told["shuffles"]) == (4, 6)  # in each: count a unit's rows, join, group
    assert all(statement["sql"].startswith(("SELECT", "WITH")) for statement in told["statements"])
    waiting = explained(keys=None, contributions=None).to_json()["statements"]
    assert [statement["for"].split(" ")[0].rstrip(",") for statement in waiting] == ["discover", "discover", "totals", "middle"]
    assert "after rows = 10, the groups are discovered" in waiting[2]["for"]


def test_what_is_shown_is_what_runs() -> None:
    """The statements of a resolved plan are those that the engine gets."""
    with clinic() as db:
        told = db.sql(SQL).plan(1).explain().to_json()["statements"]
        seen: list[str] = []
        run = db._engine.batches
        db._engine.batches = lambda sql, *rest: (seen.append(sql), run(sql, *rest))[1]  # type: ignore[method-assign]
        db.sql(SQL).release(1)
    assert seen == [statement["sql"] for statement in told]


def test_nothing_is_read_or_spent_and_nothing_depends_on_data() -> None:
    texts = []
    for frame in (visits(), visits().head(0), visits().with_columns(cost=polars.lit(1e300))):
        with connect({"visits": frame}, unit="patient_id", epsilon=2, delta=1e-6, bounds={"cost": (0, 9)}, ledger=":memory:") as db:
            db._engine.batches = lambda *_: pytest.fail("read")  # type: ignore[method-assign]
            plan = db.sql(SQL).plan(1)
            texts.append(str(plan.explain()) + repr(plan) + plan._repr_html_())
            assert db.spent.epsilon == 0
    assert len(set(texts)) == 1


def test_json_and_page() -> None:
    told = explained('SELECT dept AS "<b>", COUNT(*) AS n FROM visits GROUP BY dept', keys={"dept": ["<script>", "a&b"]})
    assert json.loads(json.dumps(told.to_json(), allow_nan=False)) == told.to_json()
    assert "<script>" not in told._repr_html_()
    assert "&lt;script&gt;" in told._repr_html_()
    assert told.to_html().startswith("<!doctype html>")


def test_every_function_can_be_explained() -> None:
    for statistic in (
        "COUNT(cost)",
        "SUM(cost)",
        "VARIANCE(cost)",
        "STDDEV(cost)",
        "COUNT(DISTINCT patient_id)",
        "COUNT(DISTINCT dept)",
        "MODE(dept)",
        "MAX(cost)",
    ):
        for declared in ({}, {"bounds": None, "contributions": None}):
            told = explained(f"SELECT {statistic} AS x FROM visits", **declared)
            assert told.to_json()["scans"] >= 1, statistic
            assert "Why this is private" in str(told)


def test_max_is_said_to_be_a_quantile() -> None:
    assert any("MAX" in note for note in explained("SELECT MAX(cost) AS x FROM visits").to_json()["notes"])


def test_a_plan_prints_briefly() -> None:
    with clinic() as db:
        text = repr(db.sql(SQL).plan(1))
    assert text == "Plan(dept, visits, mean_cost, middle; ε = 1; protects each patient_id)"


@pytest.mark.parametrize("epsilon", [0.01, 50, 5000])
def test_extreme_prices(epsilon: float) -> None:
    with connect({"visits": visits()}, unit="patient_id", epsilon=5000, delta=1e-6, bounds={"cost": (0, 9)}, ledger=":memory:") as db:
        told = db.sql(SQL).plan(epsilon).explain()
    json.dumps(told.to_json(), allow_nan=False)
    assert ("almost no protection" in str(told)) is (epsilon == 5000)


def test_gaussian_totals_speak_of_length() -> None:
    years = {"year": list(range(2000, 2040))}
    sql = "SELECT year, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY year"
    told = explained(sql, 0.5, keys=years, contributions={"groups": 30, "per_group": 2}).to_json()
    assert {total["mechanism"] for total in told["totals"]} == {"Gaussian"}
    by_rows, by_units = (total["sensitivity"] for total in told["totals"])
    assert by_rows == pytest.approx(2 * 30**0.5, rel=1e-6)
    assert 30**0.5 <= by_units <= 6
    assert "ℓ₂ at most √30·2" in told["totals"][0]["why"]


@pytest.mark.parametrize(("keys", "searched"), [(None, True), ({"dept": DEPARTMENTS}, False)])
def test_asking_one_by_one_is_compared_with_what_the_tables_cost(keys: dict[str, list[str]] | None, searched: bool) -> None:
    told = explained("SELECT dept, COUNT(*) AS n FROM visits GROUP BY ROLLUP(dept)", keys=keys)
    tables = told.to_json()["tables"]
    assert tables["separately"] > tables["together"]
    text = " ".join(str(told).split())
    assert f"would cost ε = {tables['separately']:.4g} instead of {tables['together']:.4g}" in text
    assert ("and each its own search for keys" in text) is searched
