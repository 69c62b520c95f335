"""Statements that must be refused before anything is read: data for the tests here and for the end-to-end run."""

from query.sql.hostile_aggregates import AGGREGATES
from query.sql.hostile_expressions import EXPRESSIONS
from query.sql.hostile_statements import STATEMENTS

HOSTILE: list[str] = [*STATEMENTS, *AGGREGATES, *EXPRESSIONS]

# larger than any honest question, or deeper
HOSTILE += [
    "SELECT COUNT(*) FROM visits WHERE " + "(" * 5000 + "cost" + ")" * 5000 + " > 1",
    "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 5000 + "urgent",
    "SELECT COUNT(*) FROM visits WHERE " + "- " * 5000 + "cost > 1",
    "SELECT SUM(" + " + ".join(["cost"] * 5000) + ") FROM visits",
    "SELECT SUM(" + "CASE WHEN urgent THEN " * 300 + "cost" + " END" * 300 + ") FROM visits",
    "SELECT COUNT(*) FROM " + "(SELECT *, 1 AS z FROM " * 300 + "visits" + ")" * 300,
    "SELECT " + ", ".join(f"SUM(cost + {i})" for i in range(1000)) + " FROM visits",
    "WITH a0 AS (SELECT person_id FROM visits)"
    + "".join(f", a{i + 1} AS (SELECT x.person_id FROM a{i} x JOIN a{i} y ON x.person_id = y.person_id)" for i in range(40))
    + " SELECT COUNT(*) FROM a40",
    "SELECT SUM(" + "NULLIF(" * 14 + "cost" + ", 2)" * 14 + ") FROM visits",
    "SELECT COUNT(*) FROM visits WHERE dept = '" + "x" * 200_000 + "'",
    "SELECT COUNT(*) FROM visits WHERE dept = '" + "x" * 20_000 + "'",
    "SELECT COUNT(*) AS " + "n" * 500 + " FROM visits",
    "",
    " \n\t ",
    "-- only a comment",
    "/* only a comment */",
    ";",
    "\x00",
    "SELECT COUNT(*) FROM visits WHERE dept = '\x00'",
    'SELECT COUNT(*) AS "a\nb" FROM visits',
    'SELECT COUNT(*) AS "a\u202eb" FROM visits',
]

# what only one dialect can say
HOSTILE_IN: list[tuple[str, str]] = [
    ("tsql", "SELECT TOP 10 PERCENT dept, COUNT(*) n FROM visits GROUP BY dept"),
    ("tsql", "SELECT TOP (5) WITH TIES dept, COUNT(*) n FROM visits GROUP BY dept ORDER BY n"),
    ("tsql", "SELECT COUNT(*) FROM #visits"),
    ("tsql", "SELECT COUNT(*) FROM OPENROWSET(BULK 'x', SINGLE_CLOB) AS t"),
    ("tsql", "SELECT COUNT(*) FROM visits FOR XML AUTO"),
    ("tsql", "SELECT COUNT(*) FROM visits OPTION (MAXDOP 1)"),
    ("bigquery", "SELECT COUNT(*) FROM `a.b.nowhere`"),
    ("bigquery", "SELECT COUNT(*) FROM `a.b.visits*`"),
    ("bigquery", "SELECT COUNT(*) FROM a.b.visits x JOIN a.c.visits y ON x.person_id = y.person_id"),
    ("bigquery", "SELECT COUNT(*) FROM visits v, v.rx r WHERE v.person_id = r.person_id"),
    ("bigquery", "SELECT COUNT(*) FROM (SELECT * FROM visits) v, v.rx r WHERE v.person_id = r.person_id"),
    ("bigquery", "WITH mine AS (SELECT * FROM visits) SELECT COUNT(*) FROM a.b.mine"),
    ("bigquery", "SELECT COUNT(*) FROM visits WHERE REGEXP_CONTAINS(dept, 'x')"),
    ("bigquery", "SELECT COUNT(*) FROM ML.PREDICT(MODEL x, TABLE visits)"),
    ("bigquery", "FROM visits |> AGGREGATE COUNT(*)"),
    ("bigquery", "SELECT COUNT(*) FROM EXTERNAL_QUERY('x', 'y')"),
    ("snowflake", "SELECT $1, COUNT(*) FROM visits GROUP BY 1"),
    ("snowflake", "SELECT COUNT(*) FROM @stage/file"),
    ("snowflake", "SELECT COUNT(*) FROM TABLE(RESULT_SCAN('x'))"),
    ("snowflake", "SELECT COUNT(*) FROM visits BEFORE (STATEMENT => 'x')"),
    ("snowflake", "SELECT COUNT(*) FROM visits START WITH cost = 1 CONNECT BY PRIOR cost = cost"),
    ("spark", "SELECT COUNT(*) FROM parquet.`x`"),
    ("spark", "SELECT COUNT(*) FROM visits LATERAL VIEW explode(array(1)) t AS x"),
    ("spark", "SELECT TRANSFORM(dept) USING 'cat' FROM visits"),
    ("spark", "SELECT COUNT(*) FROM visits CLUSTER BY dept"),
    ("spark", "SELECT dept, COUNT(*) FROM visits GROUP BY dept SORT BY dept"),
    ("databricks", "SELECT COUNT(*) FROM visits VERSION AS OF 3"),
    ("postgres", "SELECT COUNT(*) FROM pg_read_file('/etc/passwd')"),
    ("postgres", "SELECT COUNT(*), lo_import('/etc/passwd') FROM visits"),
    ("postgres", "SELECT COUNT(*) FROM ROWS FROM (generate_series(1, 2)) AS t"),
    ("postgres", "SELECT COUNT(*) FROM visits WHERE dept !~* 'x'"),
    ("trino", "SELECT COUNT(*) FROM visits MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS TRUE)"),
]
