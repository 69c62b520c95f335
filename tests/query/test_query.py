"""The fluent chain and SQL build equal questions."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest
from sql.clinic import CATALOG, shown

from discreet.errors import Error, Invalid, Refused
from discreet.plan.question import Question
from discreet.query import Ask, table
from discreet.relation.expr import Column, Literal, call
from discreet.relation.field import Field, exactly
from discreet.sql.pieces import read_condition, read_expression
from discreet.sql.read import read
from discreet.tables.kind import Kind

Chain = Ask[Question]
Build = Callable[[], Chain]


def visits() -> Chain:
    return table(CATALOG, "visits")


def persons() -> Chain:
    return table(CATALOG, "persons")


def rx() -> Chain:
    return table(CATALOG, "rx")


def sites() -> Chain:
    return table(CATALOG, "sites")


PAIRS: list[tuple[str, Build]] = [
    ("SELECT COUNT(*) FROM visits", lambda: visits().count()),
    ("SELECT COUNT(*) AS n FROM visits", lambda: visits().count(name="n")),
    ("SELECT COUNT(cost) FROM visits", lambda: visits().count("cost")),
    ("SELECT COUNT(DISTINCT person_id) FROM visits", lambda: visits().count_units()),
    ("SELECT COUNT(DISTINCT person_id) AS people FROM visits", lambda: visits().count_units(name="people")),
    ("SELECT COUNT_UNITS() FROM items", lambda: table(CATALOG, "items").count_units()),
    ("SELECT COUNT(DISTINCT dept) FROM visits", lambda: visits().count_distinct("dept")),
    ("SELECT SUM(cost) FROM visits", lambda: visits().sum("cost")),
    ("SELECT AVG(cost * quantity) AS m FROM visits", lambda: visits().mean("cost * quantity", name="m")),
    ("SELECT VARIANCE(cost), STDDEV(cost) FROM visits", lambda: visits().var("cost").std("cost")),
    ("SELECT MEDIAN(cost) FROM visits", lambda: visits().median("cost")),
    ("SELECT QUANTILE(cost, 0.9) AS p90 FROM visits", lambda: visits().quantile("cost", 0.9, name="p90")),
    ("SELECT QUANTILE(cost, 0.9) AS p90 FROM visits", lambda: visits().quantile("cost", Fraction(9, 10), name="p90")),
    ("SELECT MIN(cost), MAX(cost) FROM visits", lambda: visits().min("cost").max("cost")),
    ("SELECT MODE(dept) FROM visits", lambda: visits().mode("dept")),
    ("SELECT SUM(CLAMP(open, 0, 100)) AS s FROM visits", lambda: visits().sum("open", bounds=(0, 100), name="s")),
    ("SELECT AVG(CLAMP(open, -1.5, 2.0)) AS s FROM visits", lambda: visits().mean("open", bounds=(-1.5, 2.0), name="s")),
    ("SELECT dept, COUNT(*) FROM visits GROUP BY dept", lambda: visits().group_by("dept").count()),
    (
        "SELECT dept, MONTH(day) AS month, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY 1, 2",
        lambda: visits().group_by("dept", month="MONTH(day)").count(name="n").mean("cost", name="m"),
    ),
    ("SELECT dept, COUNT(*) FROM visits WHERE cost > 10 GROUP BY dept", lambda: visits().where("cost > 10").group_by("dept").count()),
    ("SELECT COUNT(*) FROM visits WHERE cost > 10 AND urgent", lambda: visits().where("cost > 10").where("urgent").count()),
    ("SELECT COUNT(*) FROM visits WHERE day >= '2024-01-01'", lambda: visits().where("day >= '2024-01-01'").count()),
    (
        "SELECT SUM(total) FROM (SELECT *, cost * quantity AS total FROM visits)",
        lambda: visits().with_columns(total="cost * quantity").sum("total"),
    ),
    (
        "SELECT region, SUM(cost) FROM visits v JOIN sites s ON v.site_id = s.id GROUP BY region",
        lambda: visits().join(sites(), on=("site_id", "id")).group_by("region").sum("cost"),
    ),
    (
        "SELECT region, COUNT(*) FROM visits v LEFT JOIN sites s ON v.site_id = s.id AND s.beds > 9 GROUP BY region",
        lambda: visits().join(sites().where("beds > 9"), on=("site_id", "id"), how="left").group_by("region").count(),
    ),
    (
        "SELECT drug, AVG(cost) FROM visits JOIN rx USING (person_id) GROUP BY drug",
        lambda: visits().join(rx(), on="person_id").group_by("drug").mean("cost"),
    ),
    (
        "SELECT drug, AVG(cost) FROM visits v JOIN rx r ON v.person_id = r.person_id AND v.site_id = r.dose GROUP BY drug",
        lambda: visits().join(rx(), on=["person_id", ("site_id", "dose")]).group_by("drug").mean("cost"),
    ),
    (
        "SELECT age, SUM(cost) FROM visits v JOIN persons p ON v.person_id = p.id GROUP BY age",
        lambda: visits().join(persons(), on=("person_id", "id")).group_by("age").sum("cost"),
    ),
    (
        "SELECT a.dept, b.dept AS other, COUNT(*) FROM visits a JOIN visits b ON a.person_id = b.person_id GROUP BY a.dept, b.dept",
        lambda: visits().join(visits(), on="person_id").group_by("dept", other="dept_2").count(),
    ),
    (
        "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) GROUP BY n",
        lambda: visits().per_unit(n="COUNT(*)").group_by("n").count(),
    ),
    (
        "SELECT dept, AVG(s) AS m FROM (SELECT person_id, dept, SUM(cost) AS s FROM visits GROUP BY person_id, dept) GROUP BY dept",
        lambda: visits().per_unit("dept", s="SUM(cost)").group_by("dept").mean("s", name="m"),
    ),
    (
        "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) WHERE n > 1",
        lambda: visits().per_unit(n="COUNT(*)").where("n > 1").mean("n"),
    ),
    ("SELECT SUM(cost) / COUNT(*) AS ratio FROM visits", lambda: visits().agg(ratio="SUM(cost) / COUNT(*)")),
    (
        "SELECT SUM(cost) / COUNT(*) AS ratio, COUNT(*) AS n FROM visits",
        lambda: visits().agg("SUM(cost) / COUNT(*) AS ratio").count(name="n"),
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n > 5 ORDER BY n DESC, dept LIMIT 3",
        lambda: visits().group_by("dept").count(name="n").having("n > 5").order_by("n", descending=True).order_by("dept").limit(3),
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING AVG(cost) > 5 AND n < 9 ORDER BY SUM(cost)",
        lambda: visits().group_by("dept").count(name="n").having("AVG(cost) > 5").having("n < 9").order_by("SUM(cost)"),
    ),
    ("SELECT sku, COUNT(*) FROM items GROUP BY sku", lambda: table(CATALOG, "items").group_by("sku").count()),
    (
        "SELECT sku, SUM(total) FROM items JOIN orders USING (order_id) GROUP BY sku",
        lambda: table(CATALOG, "items").join(table(CATALOG, "orders"), on="order_id").group_by("sku").sum("total"),
    ),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM rx WHERE dose > 1 UNION ALL SELECT * FROM rx)",
        lambda: rx().where("dose > 1").stack(rx()).count(),
    ),
    (
        "SELECT WIDTH_BUCKET(cost, 0, 500, 5) AS bin, COUNT(*) FROM visits GROUP BY bin",
        lambda: visits().group_by(bin="WIDTH_BUCKET(cost, 0, 500, 5)").count(),
    ),
    ("SELECT kind, AVG(level) FROM events GROUP BY kind", lambda: table(CATALOG, "events").group_by("kind").mean("level")),
]


@pytest.mark.parametrize(("text", "build"), PAIRS, ids=[text[:70] for text, _ in PAIRS])
def test_equal_to_sql(text: str, build: Build) -> None:
    found, expected = build().question, read(text, CATALOG)
    assert found == expected, f"{shown(found)}\n{shown(expected)}"
    assert found.notes == expected.notes


BAD: list[tuple[str, Callable[[], object]]] = [
    ("no such column", lambda: visits().where("nothing > 1")),
    ("condition", lambda: visits().where("cost")),
    ("one expression", lambda: visits().where("cost > 1, urgent")),
    ("FROM", lambda: visits().where("cost > 1 FROM rx")),
    ("one statement", lambda: visits().where("cost > 1; DROP TABLE visits")),
    ("subquery", lambda: visits().where("cost > (SELECT MAX(cost) FROM visits)")),
    ("unit", lambda: visits().where("person_id = 5")),
    ("aggregates", lambda: visits().where("COUNT(*) > 1")),
    ("divisor", lambda: visits().with_columns(x="1 / cost")),
    ("underscores", lambda: visits().with_columns(__unit="cost")),
    ("protected unit", lambda: visits().join(visits(), on="dept")),
    ("no such column", lambda: visits().join(sites(), on="site_id")),
    ("LEFT JOIN", lambda: sites().join(visits(), on=("id", "site_id"), how="left")),
    ("inner", lambda: visits().join(sites(), on=("site_id", "id"), how="outer")),  # type: ignore[arg-type]
    ("another table", lambda: visits().join(sites().count(), on=("site_id", "id"))),
    ("another table", lambda: visits().stack("rx")),  # type: ignore[arg-type]
    ("come before", lambda: visits().count().where("cost > 1")),
    ("come before", lambda: visits().group_by("dept").with_columns(x="cost")),
    ("same columns", lambda: rx().stack(sites())),
    ("each row", lambda: table(CATALOG, "events").per_unit(n="COUNT(*)")),
    ("within a unit", lambda: visits().per_unit(n="MEDIAN(cost)")),
    ("no table", lambda: table(CATALOG, "nowhere")),
    ("single rows", lambda: visits().question),
    ("single units", lambda: visits().group_by("person_id").count().question),
    ("real numbers", lambda: visits().group_by("cost").count().question),
    ("constant", lambda: visits().group_by("1").count().question),
    ("GROUP BY", lambda: visits().group_by("dept").agg("cost").count().question),
    ("pair", lambda: visits().sum("open", bounds=3).question),
    ("between 0 and 1", lambda: visits().quantile("cost", 2).question),
    ("text", lambda: visits().where(3)),  # type: ignore[arg-type]
    ("at least 1", lambda: visits().count().limit(0)),
    ("HAVING", lambda: visits().count(name="n").having("n").question),
    ("public tables only", lambda: sites().count().question),
]


@pytest.mark.parametrize(("word", "build"), BAD, ids=[f"{i}-{word}" for i, (word, _) in enumerate(BAD)])
def test_refused(word: str, build: Callable[[], object]) -> None:
    with pytest.raises((Refused, Invalid), match=word) as caught:
        build()
    assert isinstance(caught.value, Error)


def test_single_expressions() -> None:
    schema = {"a": Field(Kind.INTEGER, exactly(2)), "Day": Field(Kind.DATE)}
    assert read_expression("A + 1", schema) == call("add", Column("a"), Literal(1))
    assert read_condition("day >= '2024-01-01'", schema) == call("greater_equal", Column("Day"), Literal(datetime.date(2024, 1, 1)))
    for bad in ("b", "a, a", "COUNT(*)", "a FROM t", "a; a", "t.a", '"day"', "*", ""):
        with pytest.raises(Refused):
            read_expression(bad, schema)
    with pytest.raises(Refused, match="comparison"):
        read_condition("a", schema)


def test_every_step_gives_a_new_chain() -> None:
    begun = visits().group_by("dept")
    assert begun.count() != begun.sum("cost")
    assert begun == visits().group_by("dept")
    assert begun.statistics == ()


def test_the_owner_decides_what_becomes_of_it() -> None:
    assert table(CATALOG, "visits", build=shown).count().done() == "visits ASK count=count()"
    asked = visits().count()
    assert asked.done() == asked.question


def test_the_parser_is_loaded_on_first_use() -> None:
    code = "import sys, discreet.query; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(p for p in sys.path if p)}).returncode == 0
