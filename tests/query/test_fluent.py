"""The fluent chain and SQL build equal questions."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Error, Invalid, Refused
from discreet.query.fluent import QueryBuilder, table
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Literal, call
from discreet.query.relation.field import Field, exactly
from discreet.query.sql.pieces import read_expression
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import Person

Chain = QueryBuilder[Question]
Build = Callable[[], Chain]


def visits() -> Chain:
    return table(CATALOG, "visits")


def persons() -> Chain:
    return table(CATALOG, "persons")


def rx() -> Chain:
    return table(CATALOG, "rx")


def sites() -> Chain:
    return table(CATALOG, "sites")


def dotted() -> Chain:
    columns = ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("a.b", Kind.INTEGER, bounds=(0, 5))
    return table(Catalog((Table("t", columns, Person("id")),)), "t")


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
    ('has a dot: write it in double quotes, as "a.b"', lambda: dotted().where("a.b > 1")),
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
    ("takes a table before", lambda: visits().join(sites().count(), on=("site_id", "id"))),
    ("takes a table before", lambda: visits().stack("rx")),  # type: ignore[arg-type]
    ("come before", lambda: visits().count().where("cost > 1")),
    ("come before", lambda: visits().group_by("dept").with_columns(x="cost")),
    ("same columns", lambda: rx().stack(sites())),
    ("unit is the row", lambda: table(CATALOG, "events").per_unit(n="COUNT(*)")),
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
    assert read_expression("day >= '2024-01-01'", schema) == call("greater_equal", Column("Day"), Literal(datetime.date(2024, 1, 1)))
    for bad in ("b", "a, a", "COUNT(*)", "a FROM t", "a; a", "t.a", '"day"', "*", ""):
        with pytest.raises(Refused):
            read_expression(bad, schema)


@pytest.mark.parametrize("name", ["word", "keys", "arguments", "named", "relation", "text"])
def test_columns_may_have_any_name(name: str) -> None:
    assert name in visits().with_columns(**{name: "cost + 1"}).relation.schema
    assert name in visits().per_unit(**{name: "MAX(cost)"}).relation.schema
    assert visits().group_by(**{name: "dept"}).count().question.keys


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
    code = "import sys, discreet.query.fluent; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(p for p in sys.path if p)}).returncode == 0


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("lower bound of cost must be below", lambda: visits().sum("cost", bounds=(100, 0))),
    ("lower bound of cost must be below", lambda: visits().mean("cost", bounds=(5, 5))),
    ("pair", lambda: visits().sum("cost", bounds=(1, 2, 3))),
    ("pair", lambda: visits().sum("cost", bounds={1, 2})),
    ("pair", lambda: visits().sum("cost", bounds="ab")),
    ("real", lambda: visits().sum("cost", bounds=("a", "b"))),
    ("finite", lambda: visits().sum("cost", bounds=(0, float("inf")))),
    ("name must be text", lambda: visits().sum("cost", name=3)),  # type: ignore[arg-type]
    ("name must be text", lambda: visits().count(name="")),
    ("text", lambda: visits().sum(None)),  # type: ignore[arg-type]
    ("text", lambda: visits().mode(None)),  # type: ignore[arg-type]
    ("text", lambda: visits().count(3)),  # type: ignore[arg-type]
    ("text", lambda: visits().group_by(3)),  # type: ignore[arg-type]
    ("text", lambda: visits().group_by(["dept", None])),  # type: ignore[list-item]
    ("text", lambda: visits().group_by(k=None)),  # type: ignore[arg-type]
    ("text", lambda: visits().having(None)),  # type: ignore[arg-type]
    ("text", lambda: visits().per_unit(n=3)),  # type: ignore[arg-type]
    ("text", lambda: visits().agg(3)),  # type: ignore[arg-type]
    ("text", lambda: visits().order_by(3)),  # type: ignore[arg-type]
    ("descending", lambda: visits().order_by("dept", descending="yes")),  # type: ignore[arg-type]
    ("on must be", lambda: visits().join(sites(), on=3)),  # type: ignore[arg-type]
    ("on must be", lambda: visits().join(sites(), on=None)),  # type: ignore[arg-type]
    ("on must be", lambda: visits().join(sites(), on=[])),
    ("on must be", lambda: visits().join(sites(), on=("a", "b", "c"))),  # type: ignore[arg-type]
    ("on must be", lambda: visits().join(sites(), on=[("site_id", 3)])),  # type: ignore[list-item]
    ("on must be", lambda: visits().join(sites(), on={"site_id": "id"})),  # type: ignore[arg-type]
    ("limit must be", lambda: visits().limit("x")),  # type: ignore[arg-type]
    ("between 0 and 1", lambda: visits().quantile("cost", 2)),
    ("between 0 and 1", lambda: visits().quantile("cost", 0)),
    ("q must be", lambda: visits().quantile("cost", "x")),
    ("rows must be", lambda: visits().with_contributions(rows=0)),
    ("rows must be", lambda: visits().with_contributions(rows="x")),  # type: ignore[arg-type]
    ("not by both", lambda: visits().with_contributions(rows=3, groups=2)),
    ("contributions", lambda: visits().with_contributions()),
    ("needs groups", lambda: visits().count().with_other().question),
    ("name must be text", lambda: table(CATALOG, None)),  # type: ignore[arg-type]
    ("not attached to a session", lambda: visits().count().bias(1)),
    ("not attached to a session", lambda: visits().count().price({"count": 1})),
]


@pytest.mark.parametrize(("word", "build"), WRONG, ids=[f"{i}-{word}" for i, (word, _) in enumerate(WRONG)])
def test_invalid(word: str, build: Callable[[], object]) -> None:
    with pytest.raises(Invalid, match=word):
        build()


def test_lists_of_keys() -> None:
    assert visits().group_by(["dept", "urgent"]).count().question == visits().group_by("dept", "urgent").count().question
    assert visits().group_by("dept").count().order_by(["dept"]).question == visits().group_by("dept").count().order_by("dept").question
    with pytest.raises(Refused, match="did you mean visits"):
        table(CATALOG, "visit")


def test_contributions_and_other() -> None:
    asked = visits().group_by("dept").count()
    assert asked.question.contributions == Contributions()
    assert asked.with_contributions(rows=3).question.contributions == Contributions(rows=3)
    assert asked.with_contributions(groups=2, per_group=1).question.contributions == Contributions(groups=2, per_group=1)
    assert not asked.question.other
    assert asked.with_other().question.other
    bounded = visits().group_by("dept").agg("SUM(cost, contribution_bounds_per_group => (0, 5)) AS s").with_contributions(groups=2)
    assert bounded.question.contributions == Contributions(groups=2, per_group=1)


def test_prices_and_biases_are_the_owners() -> None:
    class Owner:
        def price(self, *given: object, **more: object) -> object:
            return "price", given, more

        def bias(self, *given: object, **more: object) -> object:
            return "bias", given, more

    asked = table(CATALOG, "visits", build=lambda _: Owner()).count()
    assert asked.price({"count": 5}, size=10) == ("price", ({"count": 5},), {"size": 10})
    assert asked.bias(1, delta=0) == ("bias", (1,), {"delta": 0})


def test_a_chain_shows_as_it_was_typed() -> None:
    asked = visits().join(sites(), on=("site_id", "id"), how="left").where("cost > 10").group_by("dept", m="MONTH(day)")
    assert repr(asked) == "visits.join(sites, on=('site_id', 'id'), how='left').where('cost > 10').group_by('dept', m='MONTH(day)')"
    asked = visits().count().std("cost", name="s").quantile("cost", 0.9, bounds=(0, 5)).agg(r="SUM(cost)").having("s > 1")
    asked = asked.order_by("s", descending=True).limit(3).with_contributions(rows=2)
    assert repr(asked) == (
        "visits.count().std('cost', name='s').quantile('cost', 0.9, bounds=(0, 5)).agg(r='SUM(cost)').having('s > 1')"
        ".order_by('s', descending=True).limit(3).with_contributions(rows=2)"
    )
    for _ in range(100):
        asked = asked.count("cost")
    assert len(repr(asked)) == 300


def test_rollup_and_cube_are_those_of_sql() -> None:
    rolled, cubed = visits().rollup("dept", "urgent").count(name="n"), visits().group_by("urgent").cube("dept").count(name="n")
    assert rolled.question == read("SELECT dept, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP (dept, urgent)", CATALOG)
    assert cubed.question == read("SELECT urgent, dept, COUNT(*) AS n FROM visits GROUP BY urgent, CUBE (dept)", CATALOG)
    with pytest.raises(Invalid, match="one rollup or cube"):
        visits().rollup("dept").cube("urgent")
