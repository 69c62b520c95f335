"""The dialect, with SQLAlchemy 1.4 or 2, here and behind a server. Whatever tools ask before a question is free."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

sa = pytest.importorskip("sqlalchemy")

from discreet import dbapi  # noqa: E402
from discreet.dbapi.sqlalchemy import SCHEMA, DiscreetDialect  # noqa: E402

COUNT = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"


def test_entry_points_name_the_dialect() -> None:
    said = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    found = said["entry-points"]["sqlalchemy.dialects"]
    assert set(found) == {"discreet", "discreet.http", "discreet.https"}
    for place in found.values():
        module, name = place.split(":")
        assert getattr(import_module(module), name) is DiscreetDialect
    assert any(one.startswith("sqlalchemy") for one in said["optional-dependencies"]["sqlalchemy"])


@pytest.mark.parametrize(
    ("url", "place", "options"),
    [
        ("discreet://host/visits?token=abc&epsilon=0.1", "https://host/visits", {"token": "abc", "epsilon": "0.1"}),
        ("discreet+https://:abc@host:8443/a/visits", "https://host:8443/a/visits", {"token": "abc"}),
        ("discreet+http://localhost:8000/visits", "http://localhost:8000/visits", {}),
        ("discreet:///folder/discreet.toml?cached_only=true", "folder/discreet.toml", {"cached_only": "true"}),
        ("discreet:////data/discreet.toml", "/data/discreet.toml", {}),
    ],
)
def test_addresses(url: str, place: str, options: dict[str, str]) -> None:
    found = sa.engine.url.make_url(url)
    assert DiscreetDialect().create_connect_args(found) == ([place], options)
    assert "abc" not in repr(found) or "token=" in url  # a password is not shown


def test_an_inspector_lists_what_is_declared(clinic: Any) -> None:
    inspector = sa.inspect(clinic.engine())
    assert inspector.get_schema_names() == [inspector.default_schema_name] == [SCHEMA]
    assert inspector.get_table_names() == inspector.get_table_names(schema=SCHEMA) == ["visits"]
    assert {one["name"]: str(one["type"]) for one in inspector.get_columns("visits")} == {
        "person": "BIGINT",
        "cost": "FLOAT",
        "dept": "VARCHAR",
    }
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_foreign_keys("visits") == inspector.get_indexes("visits") == inspector.get_unique_constraints("visits") == []
    assert "never for rows" in inspector.get_table_comment("visits")["text"]
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nothing")
    assert clinic.spent() == 0


def test_statements_of_sqlalchemy_are_questions(clinic: Any) -> None:
    engine = clinic.engine(epsilon="0.1")
    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    question = sa.select(visits.c.dept, sa.func.count().label("n"), sa.func.avg(visits.c.cost).label("m"))
    question = question.where(visits.c.dept.in_(["eyes", "skin"]), visits.c.cost > 1.5)
    question = question.group_by(visits.c.dept).order_by(visits.c.dept).limit(2)
    with engine.connect() as connection:
        result = connection.execute(question)
        assert list(result.keys()) == ["dept", "n", "n_low", "n_high", "m", "m_low", "m_high"]
        rows = result.fetchall()
    assert [row.dept for row in rows] == ["eyes", "heart"]
    assert all(row.n_low <= row.n <= row.n_high for row in rows)
    assert clinic.spent() == 0.1


def test_groups_of_an_expression_and_a_schema(clinic: Any) -> None:
    engine = clinic.engine(epsilon="0.1")
    visits = sa.Table("visits", sa.MetaData(), schema=SCHEMA, autoload_with=engine)
    bins = sa.func.floor(visits.c.cost / 100)
    question = sa.select(bins.label("bin"), sa.func.count().label("n")).group_by(bins)
    assert SCHEMA not in str(question.compile(engine))
    with engine.connect() as connection:
        assert [row.bin for row in connection.execute(question)] == [0, 1, 2, 3, 4, 5]


def test_texts_with_parameters(clinic: Any) -> None:
    with clinic.engine(epsilon="0.1").connect() as connection:
        asked = sa.text("SELECT COUNT(*) AS n FROM visits WHERE dept = :dept")
        first = connection.execute(asked, {"dept": "eyes"}).fetchall()
        assert connection.execute(sa.text("SELECT COUNT(*) AS n FROM visits WHERE dept = 'eyes'")).fetchall() == first
        connection.execute(sa.text("SET discreet.epsilon = 0.2"))
        connection.execute(sa.text(COUNT))
    assert clinic.spent() == pytest.approx(0.3)


def test_errors_say_what_to_do(clinic: Any) -> None:
    with clinic.engine(epsilon="0.1").connect() as connection:
        with pytest.raises(sa.exc.ProgrammingError, match="single rows are never shown") as found:
            connection.execute(sa.text("SELECT * FROM visits"))
        assert isinstance(found.value.orig, dbapi.ProgrammingError)
        with pytest.raises(sa.exc.OperationalError, match="budget"):
            connection.execute(sa.text(f"/* epsilon=100 */ {COUNT}"))
    assert clinic.spent() == 0


def superset_reads(engine: Any) -> Iterator[Any]:
    """What Apache Superset reads of a database that has no engine specification (`models/core.py`, `db_engine_specs/base.py`).

    It tests the connection, fills the lists of SQL Lab, and adds a dataset.
    """
    raw = engine.raw_connection()
    yield engine.dialect.do_ping(getattr(raw, "dbapi_connection", None) or raw.connection)
    raw.close()
    inspector = sa.inspect(engine)
    yield (engine.dialect.name, engine.dialect.driver, inspector.default_schema_name)
    for schema in inspector.get_schema_names():
        yield inspector.get_view_names(schema)
        for table in inspector.get_table_names(schema):
            yield inspector.has_table(table, schema)
            yield [(one["name"], one["type"].compile(dialect=engine.dialect)) for one in inspector.get_columns(table, schema)]
            yield inspector.get_pk_constraint(table, schema)
            yield inspector.get_foreign_keys(table, schema)
            yield inspector.get_indexes(table, schema)
            yield inspector.get_unique_constraints(table, schema)
            yield inspector.get_table_comment(table, schema)
            yield engine.dialect.identifier_preparer.format_table(sa.table(table, schema=schema))


def test_superset_lists_and_asks(clinic: Any) -> None:
    engine = clinic.engine(epsilon="0.1")
    found = list(superset_reads(engine))
    assert found[0] is True
    assert [("person", "BIGINT"), ("cost", "FLOAT"), ("dept", "VARCHAR")] in found
    assert found[-1] == "visits"
    assert clinic.spent() == 0  # its start-up scan is free
    raw = engine.raw_connection()
    cursor = raw.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="single rows are never shown"):
        cursor.execute("SELECT *\nFROM visits\nLIMIT 100")  # its preview of a table
    assert clinic.spent() == 0
    cursor.execute(
        "SELECT dept AS dept, COUNT(*) AS count FROM (SELECT dept, cost FROM visits) AS virtual_table "
        "GROUP BY dept ORDER BY count DESC LIMIT 1000"
    )
    assert [column[:2] for column in cursor.description][:2] == [("dept", "text"), ("count", "real")]
    assert len(cursor.fetchall()) == 3
    raw.close()
    assert clinic.spent() == 0.1


def test_a_dashboard_that_never_pays(clinic: Any) -> None:
    with clinic.connect(epsilon=0.1) as connection:
        paid = connection.execute(COUNT).fetchall()
    engine = clinic.engine(epsilon="0.1", cached_only="true")
    with engine.connect() as connection:
        assert [tuple(row) for row in connection.execute(sa.text(COUNT))] == paid
        with pytest.raises(sa.exc.OperationalError, match="stored answers only"):
            connection.execute(sa.text("SELECT COUNT(*) AS n FROM visits"))
    assert clinic.spent() == 0.1
