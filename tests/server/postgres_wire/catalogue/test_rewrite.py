"""Catalogue statements: what is one, what may occur in it, and that its text never runs."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.server.postgres_wire.catalogue.calls import list_of
from discreet.server.postgres_wire.catalogue.nodes import NODES
from discreet.server.postgres_wire.catalogue.relations import DUCKDB_TYPES, LETTERS, relations
from discreet.server.postgres_wire.catalogue.rewrite import read_catalogue
from discreet.server.postgres_wire.sqlstates import Failure
from discreet.server.postgres_wire.types import INT8, TEXT, TEXTS

SESSION: dict[str, str | None] = {"account": "ann", "dataset": "clinic", "schema": "public", "setting x": "1"}


def sql(text: str, *values: Any) -> str:
    found = read_catalogue(text, ["visits", "Odd Name"])
    assert found is not None
    return found.sql(values, SESSION)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("SELECT 1", 'SELECT 1 AS "?column?"'),
        ("select relname from pg_class", 'SELECT "relname" AS "relname" FROM "pg"."pg_class"'),
        ("SELECT c.OID FROM pg_catalog.pg_class AS c", 'SELECT "c"."oid" AS "oid" FROM "pg"."pg_class" AS "c"'),
        ("SELECT pg_catalog.pg_class.oid FROM pg_catalog.pg_class", 'SELECT "pg_class"."oid" AS "oid" FROM "pg"."pg_class"'),
        ("SELECT * FROM information_schema.tables", 'SELECT * FROM "info"."tables"'),
        ("SELECT current_user, current_database()", "SELECT 'ann' AS \"current_user\", 'clinic' AS \"current_database\""),
        ("SELECT current_setting('X'), current_setting('none')", 'SELECT \'1\' AS "current_setting", NULL AS "current_setting"'),
        ("SELECT 'a' OPERATOR(pg_catalog.~) '^a' COLLATE pg_catalog.default", "SELECT REGEXP_MATCHES('a', ('^a')) AS \"?column?\""),
        ("SELECT pg_catalog.format_type(23, NULL)", 'SELECT PGF_FORMAT_TYPE(23, NULL) AS "format_type"'),
        ("SELECT 'visits'::regclass", "SELECT PGF_TO_REGCLASS('visits') AS \"regclass\""),
        ("SELECT oid::regclass FROM pg_class", 'SELECT PGF_REGCLASS_NAME("oid") AS "oid" FROM "pg"."pg_class"'),
        ("SELECT format('%I.%s', 'a', 'b')", "SELECT CONCAT('', PGF_QUOTE_IDENT('a'), '.', 'b', '') AS \"format\""),
        ("SELECT * FROM visits LIMIT 0", 'SELECT * FROM "tables"."visits" LIMIT 0'),
        (
            'SELECT "public"."visits".cost FROM public.visits WHERE 1 = 0',
            'SELECT "visits"."cost" AS "cost" FROM "tables"."visits" WHERE 1 = 0',
        ),
    ],
)
def test_what_runs(text: str, written: str) -> None:
    assert sql(text) == written


def test_parameters_are_literals() -> None:
    text = "SELECT relname FROM pg_class WHERE relname = $1 AND oid = $2 AND relkind = ANY($3)"
    found = read_catalogue(text, [])
    assert found is not None
    assert found.types == (TEXT, INT8, TEXTS)
    written = found.sql(["x' OR '1'='1", 5, '{r,"v"}'], SESSION)
    assert "'x'' OR ''1''=''1'" in written
    assert "['r', 'v']" in written
    assert found.sql(None, SESSION).count("NULL") == 3  # to describe it, before there are values


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT * FROM visits",
        "SELECT * FROM visits LIMIT 1",
        "SELECT * FROM visits WHERE TRUE",
        "SELECT * FROM visits WHERE 1 = 1",
        "SELECT * FROM visits WHERE 1 <> 1 OR TRUE",
        "SELECT COUNT(*) FROM visits WHERE FALSE",
        "SELECT * FROM (SELECT * FROM visits LIMIT 0) AS v",
        "SELECT * FROM pg_class, visits",
        "SELECT relname FROM pg_class WHERE EXISTS (SELECT 1 FROM visits)",
        "SELECT * FROM unknown LIMIT 0",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM visits",
        "this is not SQL",
        "SELECT 1; SELECT 2",
        "DELETE FROM pg_class",
        "",
    ],
)
def test_what_is_a_question_or_nothing(text: str) -> None:
    assert read_catalogue(text, ["visits"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT read_text('/etc/passwd')",
        "SELECT getenv('HOME')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM pg_catalog.pg_read_file('/etc/passwd')",
        "SELECT pg_sleep(100)",
        "SELECT lo_import('/etc/passwd')",
        "SELECT dblink('x', 'y')",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT * FROM information_schema.nothing",
        "SELECT * FROM pg_catalog.nothing",
        "SELECT other.f(1)",
        "SELECT 1::nothing",
        "SELECT 1 OPERATOR(pg_catalog.@@) 2",
        "SELECT a.b.c.d FROM pg_class",
        "WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT 1 FROM a) SELECT x FROM a TABLESAMPLE system (1)",
        "SELECT relname FROM pg_class FOR UPDATE",
        "SELECT (" * 200 + "1" + ")" * 200,
    ],
)
def test_what_is_not_on_the_lists(text: str) -> None:
    try:
        found = read_catalogue(text, ["visits"])
    except Failure:
        return
    assert found is None  # it is refused as a question


def test_what_certainly_has_no_rows_needs_no_support() -> None:
    found = read_catalogue("SELECT (information_schema._pg_expandarray(i.indkey)).n AS k, i.x FROM pg_catalog.pg_index i", [])
    assert found is not None
    assert found.sql((), SESSION) == 'SELECT NULL AS "k", NULL AS "x" WHERE FALSE'


@pytest.mark.parametrize("joined", ["pg_class c LEFT JOIN pg_index i", "pg_index i RIGHT JOIN pg_class c", "pg_index FULL JOIN pg_class c"])
def test_what_may_have_rows_is_refused(joined: str) -> None:
    with pytest.raises(Failure):
        read_catalogue(f"SELECT nothing_known(c.oid) FROM {joined} ON true", [])


def test_lists() -> None:
    assert [one.name for one in list_of('{a,"b c","d\\"e",}').expressions] == ["a", "b c", 'd"e']


def test_relations_have_known_types() -> None:
    assert len(relations()) > 70
    assert all(letter in DUCKDB_TYPES for columns in relations().values() for _, letter in columns)
    assert LETTERS["relname"] == "t"
    assert not {"Command", "Create", "Insert", "Update", "Delete", "Drop", "Copy", "Attach", "Pragma"} & {node.__name__ for node in NODES}
