"""Keys that a profile found: in grouping sets totals count every row, and notes say no more than the profile's noise can tell."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve

import discreet
from discreet.plan.key_values import OTHER
from discreet.plan.profiled_keys import keys_found
from discreet.query.canonical import plain
from discreet.server.postgres_wire.columns import answer_columns, answer_rows
from discreet.session.session import Session

ROWS = 4000
ROLLUP = "SELECT town, size, COUNT(*) AS n FROM people GROUP BY ROLLUP(town, size)"
NOTE = f"those that are not found are together in rows marked {OTHER}, and totals count them"


def people(rare: float = 0.05) -> pa.Table:
    rng = random.Random(3)
    towns = [f"rare {i}" if rng.random() < rare else rng.choice(["York", "Bath", "Deal"]) for i in range(ROWS)]
    sizes = [rng.choice([1, 2, 3]) for _ in range(ROWS)]
    return pa.table({"id": range(ROWS), "town": towns, "size": sizes, "cost": [rng.randrange(100) for _ in range(ROWS)]})


def session(rare: float = 0.05, **said: Any) -> Session:
    tables = {"people": people(rare), **said.pop("tables", {})}
    usual: dict[str, Any] = {"unit": "id", "one_row_per_unit": True, "epsilon": 10**6, "delta": 1e-6, "ledger": ":memory:"}
    return discreet.connect(tables, **(usual | said))


def profiled(epsilon: float = 100, **said: Any) -> Session:
    db = session(**said)
    db.profile("people", epsilon=epsilon, progress=lambda what, share: None)
    return db


def total(rows: list[dict[str, Any]]) -> float:
    return float(rows[-1]["n"])


@pytest.mark.parametrize("sets", ["ROLLUP(town, size)", "CUBE(town, size)", "GROUPING SETS((town), (size), ())"])
def test_a_profile_does_not_change_what_a_total_means(sets: str) -> None:
    text = ROLLUP.replace("ROLLUP(town, size)", sets)
    with session() as before, profiled() as after:
        alone, bought = (db.ask(text, epsilon=100) for db in (before, after))
    for release in (alone, bought):
        assert total(release.rows) == pytest.approx(ROWS, abs=10)
        assert OTHER in {row["town"] for row in release}
        assert any(NOTE in note for note in release.receipt.notes)
    assert {row["town"] for row in alone} == {row["town"] for row in bought}
    assert not any("left out" in note for note in bought.receipt.notes)


def test_every_total_is_the_sum_of_its_parts() -> None:
    with profiled(bounds={"cost": (0, 100)}) as db:
        found = db.ask(ROLLUP.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(cost) AS s, MEDIAN(cost) AS m"), epsilon=100)
    for name in ("n", "s"):
        assert sum(row[name] for row in found if row["size"] is not None) == found.rows[-1][name]
    assert found.rows[-1]["m"] is not None


def test_the_question_is_that_with_others() -> None:
    """So answers from before, which left rows out, are not taken for it; and nothing else about questions changes."""
    with profiled() as db:
        asked = db.sql(ROLLUP)
        assert plain(asked.plan(epsilon=1).steps.question) == plain(db.sql(ROLLUP, other=True).plan(epsilon=1).steps.question)
        assert not db.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town").plan(epsilon=1).steps.question.other
        first = asked.release(epsilon=2)
        assert db.sql(ROLLUP, other=True).release(epsilon=2).rows == first.rows
    with session() as db:
        assert not db.sql(ROLLUP).plan(epsilon=1).steps.question.other  # keys that are searched


def test_declared_keys_stay_as_they_are() -> None:
    with profiled(keys={"town": ["York", "Bath"], "size": [1, 2]}) as db:
        plan = db.sql(ROLLUP).plan(epsilon=100)
        assert not plan.steps.question.other
        assert keys_found(plan.steps.question) == ()
        found = db.ask(ROLLUP, epsilon=100)
        assert OTHER not in {row["town"] for row in found}
        notes = " ".join(found.receipt.notes)
        assert "rows without town (NULL) are left out" in notes
        assert "that the profile did not find" not in notes
        assert "a public list" in str(plan.explain())


def test_one_declared_key_beside_one_that_was_found() -> None:
    with profiled(keys={"town": ["York", "Bath"]}) as db:
        plan = db.sql(ROLLUP).plan(epsilon=100)
        assert keys_found(plan.steps.question) == ("size",)
        assert "the values that a profile found of size, and a public list of the others" in str(plan.explain()).replace("\n      ", " ")
        assert total(db.ask(ROLLUP, epsilon=100).rows) == pytest.approx(ROWS, abs=10)


def test_explain_says_that_a_profile_found_them() -> None:
    with profiled() as db:
        ordinary, sets = (str(db.sql(text).explain(epsilon=1)) for text in ("SELECT town, COUNT(*) AS n FROM people GROUP BY town", ROLLUP))
    for said in (ordinary, sets):
        assert "the values that a profile found" in said
        assert "a public list" not in said
    assert "every total counts every row" in sets.replace("\n      ", " ")
    assert "these rows are left out" not in sets


def test_keys_that_are_searched_beside_keys_that_were_found() -> None:
    text = "SELECT town, k, COUNT(*) AS n FROM (SELECT town, SUBSTRING(town, 1, 1) AS k FROM people) GROUP BY ROLLUP(town, k)"
    with profiled() as db:
        plan = db.sql(text).plan(epsilon=10)
        assert plan.steps.open_keys is not None
        assert "a profile found the values of town" in str(plan.explain())
        assert any("values of town, k are not declared" in note for note in plan.steps.notes)


def test_renamed_and_derived_keys_are_followed() -> None:
    with profiled() as db:
        for text in (
            "SELECT place, COUNT(*) AS n FROM (SELECT town AS place FROM people) GROUP BY ROLLUP(place)",
            "SELECT CASE WHEN town IS NULL THEN 'none' ELSE town END AS place, COUNT(*) AS n FROM people GROUP BY ROLLUP(place)",
        ):
            assert total(db.ask(text, epsilon=100).rows) == pytest.approx(ROWS, abs=10)


def test_a_hierarchy_stays_a_tree_beside_keys_that_were_found() -> None:
    sites = pa.table({"site": [0, 1, 2, 3], "region": ["n", "n", "s", "s"]})
    table = people().append_column("site", pa.array([i % 4 for i in range(ROWS)]))
    text = (
        "SELECT region, sites.site AS site, size, COUNT(*) AS n FROM people JOIN sites ON people.site = sites.site "
        "GROUP BY ROLLUP(region, sites.site), CUBE(size)"
    )
    with profiled(tables={"people": table, "sites": sites}, public=["sites"]) as db:
        plan = db.sql(text).plan(epsilon=100).steps
        assert plan.arrangement is not None
        assert plan.arrangement.nodes[2] == (
            ("n", 0), ("n", 1), ("n", OTHER), ("s", 2), ("s", 3), ("s", OTHER), (OTHER, OTHER),
        )  # fmt: skip
        found = db.ask(text, epsilon=100)
        assert total(found.rows) == pytest.approx(ROWS, abs=10)
        by_size = [row["n"] for row in found if row["region"] is None and row["size"] is not None]
        assert sum(by_size) == total(found.rows)


def test_a_value_that_is_spelled_as_all_others_is_one_of_them() -> None:
    towns = pa.table({"id": range(ROWS), "town": [[OTHER, "York"][i % 2] for i in range(ROWS)]})
    with profiled(tables={"people": towns}) as db:
        found = db.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY ROLLUP(town)", epsilon=100)
    assert sorted(str(row["town"]) for row in found) == [OTHER, "None", "York"]
    assert total(found.rows) == pytest.approx(ROWS, abs=10)


@pytest.mark.parametrize("output", ["size", "size + 1", "size > 1", "CASE WHEN size > 1 THEN size ELSE 0 END"])
def test_clients_are_told_that_numbers_may_be_text(output: str) -> None:
    with profiled() as db:
        query = db.sql(f"SELECT {output} AS x, COUNT(*) AS n FROM people GROUP BY ROLLUP(size) ORDER BY size")
        columns = answer_columns(query.plan(epsilon=10).steps, intervals=True)
        rows = answer_rows(query.release(epsilon=10), columns)
    assert columns[0].type.name == "text"
    assert {type(row[0]) for row in rows} <= {str, type(None)}


def test_batches_are_answered() -> None:
    with profiled() as db:
        answers = db.batch(
            {
                "by town": db.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town"),
                "by size": db.sql("SELECT size, COUNT(*) AS n FROM people GROUP BY size"),
                "table": db.sql(ROLLUP),
            }
        ).release(epsilon=100)
    assert OTHER not in {row["town"] for row in answers["by town"]}
    assert any("values of town that the profile did not find are left out" in note for note in answers["by town"].receipt.notes)
    assert total(answers["table"].rows) == pytest.approx(ROWS, abs=10)


# ── how many rows are left out ───────────────────────────────────────────────────────────────────────────────────────


def noted(db: Session) -> str:
    with db:
        release = db.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=10)
    return next(note for note in release.receipt.notes if "did not find" in note)


def test_rows_that_are_left_out_are_counted_with_their_error() -> None:
    said = noted(profiled())
    low, high = (int(word.replace(",", "")) for word in said.partition("between ")[2].removesuffix(" rows)").split(" and "))
    assert 0 < low <= sum(town.startswith("rare") for town in people()["town"].to_pylist()) <= high


def test_noise_is_no_number_of_rows() -> None:
    for _ in range(5):
        said = noted(profiled(epsilon=2, rare=0))
        assert "no more than about " in said
        assert "between" not in said


def test_a_policy_has_the_same_digest() -> None:
    """Which values a profile found is known from its own digest."""
    with profiled() as db:
        catalog = db._pipeline.catalog
    bare = evolve(catalog, tables=tuple(evolve(table, keys_found=()) for table in catalog.tables))
    assert catalog.tables[0].keys_found
    assert bare.digest == catalog.digest


def test_the_bias_of_an_answer_is_measured() -> None:
    """A release of the question is one, although its others were added when it was planned."""
    with profiled(one_row_per_unit=False) as db:
        asked = db.sql(ROLLUP)
        found = asked.release(epsilon=100)
        assert asked.bias(epsilon=100, of=found).rows
        assert asked.stored(epsilon=100) is not None
        assert found.refine(epsilon=100).rows[-1]["n"] == pytest.approx(ROWS, abs=10)
