"""Grouping sets over keys that nobody declared: totals are the sums of their parts, everyone is counted, and what is hidden is said."""

from __future__ import annotations

import datetime
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.plan.discovery import Discovered
from discreet.plan.key_values import OTHER
from discreet.plan.resolve import resolve
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.totals import ReleasedTotals
from discreet.session.connect import connect
from discreet.session.session import Session

ROLLUP = "SELECT a, b, GROUPING(a, b) AS g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY ROLLUP (a, b)"
CUBE = ROLLUP.replace("ROLLUP", "CUBE")
Row = tuple[int, Any, Any, int]


def table(seed: int, units: int = 1500) -> list[Row]:
    """Units with up to three rows; a few large groups, many small ones, and rows without a key."""
    rng, rows = random.Random(seed), []
    for unit in range(units):
        for _ in range(rng.choice([1, 1, 2, 3])):
            a = rng.choices(["n", "s", "e", None, f"rare {unit % 300}"], [50, 30, 10, 7, 3])[0]
            rows.append((unit, a, rng.choices([f"{a}1", f"{a}2", None, str(rng.random())], [60, 25, 10, 5])[0], rng.randrange(100)))
    return rows


def session(rows: list[Row], **said: Any) -> Session:
    kinds = [pa.int64(), pa.string(), pa.string(), pa.int64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    usual = {"contributions": {"rows": 3}, "bounds": {"x": (0, 100)}, "ledger": ":memory:"}
    return connect({"t": pa.table(dict(zip("uabx", columns, strict=True)))}, unit="u", epsilon=10**6, delta=0.01, **(usual | said))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("text", [ROLLUP, CUBE], ids=["rollup", "cube"])
def test_every_total_is_the_sum_of_its_parts_and_counts_everyone(text: str, seed: int) -> None:
    rows = table(seed)
    limits = {"rows": 3} if seed % 2 else {"groups": 3, "per_group": 2}
    with session(rows, contributions=limits, adjacency="replace-one" if seed == 5 else "add/remove") as db:
        plan = db.sql(text).plan([2, 8, 40][seed % 3], "1e-4").steps
        columns = outcome(execute(plan, db._engine), 0.95)
    found = [dict(zip([c.name for c in columns], row, strict=True)) for row in zip(*(c.values for c in columns), strict=True)]
    for name in ("n", "s"):
        (whole,) = [row[name] for row in found if row["g"] == 3]
        finest = [row for row in found if row["g"] == 0]
        assert whole == math.fsum(row[name] for row in finest)
        for level, key in ((1, "a"), (2, "b")):
            for part in (row for row in found if row["g"] == level):
                assert part[name] == math.fsum(row[name] for row in finest if row[key] == part[key])
    assert {row["a"] for row in found if row["g"] == 1} >= {"n", "s", OTHER}
    assert all(any(row["a"] == top["a"] and row["b"] == OTHER for row in finest) for top in found if top["g"] == 1)
    assert whole == pytest.approx(sum(x for *_, x in rows), rel=0.2)  # of all rows, though no rare one is shown by itself
    assert not any(str(row["a"]).startswith("rare") for row in found)


@pytest.mark.parametrize(("noise", "limits"), [("laplace", {"rows": 1}), ("gaussian", {"groups": 12, "per_group": 1})])
def test_intervals_hold_the_truth_in_every_set(noise: str, limits: dict[str, int]) -> None:
    rows = [(unit, a, b, x) for unit, (_, a, b, x) in enumerate(table(1))]  # a row for each unit, so nothing is bounded away
    with session(rows, contributions=limits) as db:
        plan = db.sql(ROLLUP).plan(2, "1e-4").steps
        assert plan.budget.noise == noise
        known = resolve(
            plan, Discovered(found={(0,): [("n",), ("s",), (None,)], (0, 1): [("n", "n1"), ("s", "s1"), ("s", None), (None, "None1")]})
        )
        below = {("n", "n1"), ("s", "s1"), ("s", None), (None, "None1")}
        truth: list[Counter[Any]] = [Counter(), Counter(), Counter()]
        for _, a, b, _ in rows:
            top = a if a in ("n", "s", None) else OTHER
            truth[0][top, b if (a, b) in below else OTHER] += 1
            truth[1][(top,)] += 1
            truth[2][()] += 1
        runs, inside = 60, np.zeros(3)
        for _ in range(runs):
            (count,) = (column for column in outcome(execute(known, db._engine), 0.95) if column.name == "n")
            assert isinstance(count.widths, list)
            groups = [(place, group) for place, part in enumerate(known.parts) for group in part.groups or ()]
            for (place, group), value, width in zip(groups, count.values, count.widths, strict=True):
                inside[place] += abs(value - truth[place][group]) <= width
    shares = inside / runs / np.array([len(part.groups or ()) for part in known.parts])
    assert (shares >= 0.76).all(), shares  # of 60 independent draws of 95 %, fewer are inside with a probability below 1e-6
    assert shares.mean() == pytest.approx(0.95, abs=0.05)


def test_keys_that_look_alike_and_no_key() -> None:
    odd = ["a", "A", "a ", " a", "", None, "NULL", OTHER, "Total", "ä"]
    rows = [(200 * i + j, key, "b", 1) for i, key in enumerate(odd) for j in range(200)]
    with session(rows) as db:
        release = db.ask("SELECT a, GROUPING(a) AS g, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)", epsilon=50, delta="1e-4")
        said = {row["a"]: row["n"] for row in release if not row["g"]}
        assert set(said) == set(odd)
        assert all(abs(n - 200) < 10 for n in said.values())  # a value that is spelled as the others are is one of them
        assert abs(release.rows[-1]["n"] - len(rows)) < 30


@pytest.mark.parametrize("kind", ["whole", "day", "flag"])
def test_keys_of_other_kinds(kind: str) -> None:
    values: list[Any] = {
        "whole": [2**62, -1, None],
        "day": [datetime.date(2024, 2, 29), datetime.date(9999, 12, 31), None],
        "flag": [True, False, None],
    }[kind]
    frame = pa.table({"u": range(1500), "k": [values[i % 3] for i in range(1500)], "b": [str(i % 2) for i in range(1500)]})
    with connect({"t": frame}, unit="u", epsilon=1000, delta=0.01, one_row_per_unit=True, ledger=":memory:") as db:
        release = db.ask("SELECT k, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (k, b)", epsilon=50, delta="1e-4")
        tops = {row["k"] for row in release}
        assert tops >= set(values)
        assert release.to_pandas().shape[0] == len(release.rows)
        sums = [row["n"] for row in release if row["k"] == values[0] and row["b"] is not None]
        assert (len(sums), math.fsum(sums)) == (3, [row["n"] for row in release if row["k"] == values[0]][-1])


def test_with_too_few_people_all_are_others() -> None:
    with session([(1, "a", "b", 5)]) as db:
        for text in (ROLLUP, CUBE):
            release = db.sql(text).release(epsilon="0.5", delta="1e-4")
            assert {(row["a"], row["b"]) for row in release} <= {(a, b) for a in (OTHER, None) for b in (OTHER, None)}
            assert {row["n"] for row in release if row["g"] == 0} == {release.rows[-1]["n"]}


def test_declared_and_found_keys_together() -> None:
    rows = table(3)
    with session(rows, keys={"a": ["n", "s", "nowhere"]}) as db:
        release = db.sql(ROLLUP).release(epsilon=20, delta="1e-4")
        assert [row["a"] for row in release if row["g"] == 1] == ["n", "s", "nowhere", OTHER]
        assert {row["b"] for row in release if row["a"] == "nowhere" and row["g"] == 0} == {OTHER}
        assert {"n1", "n2", OTHER} <= {row["b"] for row in release if row["a"] == "n" and row["g"] == 0}


def test_a_declared_key_between_found_ones() -> None:
    text = "SELECT a, x % 3 AS k, b, COUNT(*) AS n, GROUPING(a, x % 3, b) AS g FROM t GROUP BY ROLLUP (a, x % 3, b)"
    with session(table(3)) as db:
        found = db.sql(text).release(epsilon=30, delta="1e-4").rows
    finest = [row for row in found if row["g"] == 0]
    for level, names in ((1, ("a", "k")), (3, ("a",)), (7, ())):
        for part in (row for row in found if row["g"] == level):
            assert part["n"] == math.fsum(row["n"] for row in finest if all(row[name] == part[name] for name in names))
    assert {row["k"] for row in finest if row["a"] == "n" and row["b"] == "n1"} == {0, 1, 2, OTHER}


def test_answers_are_read_back_refined_and_repeated(tmp_path: Path) -> None:
    people = "SELECT a, b, GROUPING(a, b) AS g, COUNT(*) AS n, COUNT(DISTINCT u) AS p FROM t GROUP BY ROLLUP (a, b)"
    with session(table(2), ledger=str(tmp_path / "ledger")) as db:
        for text in (ROLLUP, CUBE, people):
            plan = db.sql(text).plan(5, "1e-4").steps
            answers = execute(plan, db._engine)
            said = json.loads(json.dumps(ReleasedTotals.of(answers, plan).to_json()))
            again = ReleasedTotals.from_json(said).results(plan)
            assert [(c.values, c.widths) for c in outcome(again, 0.9)] == [(c.values, c.widths) for c in outcome(answers, 0.9)]
            first = db.sql(text).release(epsilon=5, delta="1e-4")
            assert db.sql(text).release(epsilon=5, delta="1e-4").rows == first.rows
            refined = first.refine(epsilon=20, delta="1e-4")
            assert [(row["a"], row["b"]) for row in refined] == [(row["a"], row["b"]) for row in first]
            assert refined.rows[-1]["n"] == math.fsum(row["n"] for row in refined if row["g"] == 0)
            assert refined.tidy[-1]["n"] == sum(row["n"] for row in refined.tidy if row["g"] == 0)
            first.publish(tmp_path / "published")


def test_ranges_are_discovered_with_keys_and_kept_by_the_ledger() -> None:
    with session(table(4), bounds=None) as db:
        first = db.sql(CUBE).release(epsilon=50, delta="1e-4")
        assert first.receipt.discovered["bounds"]["x"]["high"]
        assert first.rows == db.sql(CUBE).release(epsilon=50, delta="1e-4").rows
        assert {row["a"] for row in first.at_confidence(0.5)} == {row["a"] for row in first}


def test_in_a_batch_and_on_mock_data() -> None:
    with session(table(4)) as db:
        batch = db.batch([ROLLUP, "SELECT COUNT(*) AS n FROM t"], 20, "1e-4")
        first = batch["q1"]
        assert first.rows[-1]["n"] == math.fsum(row["n"] for row in first if row["g"] == 0)
        assert db.sql(ROLLUP).dry_run(1, "1e-4").rows[-1]["g"] == 3
        assert db.spent.epsilon == 20


def test_asked_in_python_and_with_other() -> None:
    with session(table(4)) as db:
        rolled = db.table("t").rollup("a", "b").count(name="n").release(epsilon=20, delta="1e-4")
        assert rolled.rows == db.ask("SELECT a, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b)", epsilon=20, delta="1e-4").rows
        cubed = db.table("t").cube("a", "b").with_other().count(name="n").release(epsilon=20, delta="1e-4")
        assert {(row["a"], row["b"]) for row in cubed} >= {("n", "n1"), ("n", None), (None, "n1"), (OTHER, OTHER), (None, None)}


def test_what_is_hidden_is_said() -> None:
    with session(table(5)) as db:
        plan = db.sql(ROLLUP).plan(2, "1e-4")
        said = str(plan.explain())
        for line in (
            "a: values are discovered privately (each unit contributes to at most 3 groups)",
            "b: values are discovered privately within each a that is known",
            "all other rows are counted in rows marked (other)",
            "what follows is for 10 values of a, 10 values of b within each a;",
        ):
            assert line in " ".join(said.split())
        assert plan.explain().to_json()["groups"]["searches"][1]["of"] == ["a", "b"]
        assert "<table" in plan._repr_html_() or "<div" in plan._repr_html_()
        release = db.sql(ROLLUP).release(epsilon=2, delta="1e-4")
        assert any("not found are together in rows marked (other)" in note for note in release.receipt.notes)
        assert any(note.startswith("values of b with much fewer than") and "within one a" in note for note in release.receipt.notes)
        assert "(other)" in repr(release)
        assert "(other)" in release._repr_html_()


def test_the_forecast_is_for_a_number_of_values() -> None:
    with session(table(5)) as db:
        plan = db.sql(CUBE).plan(2, "1e-4")
        usual, many = plan.error(), plan.error(assume={"a": 200, "b": 50})
        assert usual.assumed == {"a": 10, "b": 10}
        assert "assuming that 10 values of a are found, see assume=" in repr(usual)
        assert not many.assumed
        assert all(many.sets[keys]["n"] >= usual.sets[keys]["n"] for keys in usual.sets)  # type: ignore[operator]
        assert plan.shown(10**4) == pytest.approx(1)
        assert plan.shown(2) < 1e-2
        found = db.sql(CUBE).release(epsilon=2, delta="1e-4")
        sizes = {key: len({row[key] for row in found if row[key] is not None or row["g"] == 0}) - 1 for key in "ab"}
        count = next(column for column in found.columns if column.name == "n")
        assert isinstance(count.widths, list)
        assert count.widths[0] == pytest.approx(plan.error(assume=sizes).sets["a, b"]["n"], rel=0.05)
