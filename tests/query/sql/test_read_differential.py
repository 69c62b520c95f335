"""The analyst's text on plain DuckDB and our nodes written out give the same rows."""
# ruff: noqa: E501

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from query.sql.clinic import CATALOG

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.query.relation.write import write_relation
from discreet.query.sql.scope import Context
from discreet.query.sql.select import read_query
from discreet.query.sql.tokens import parse

RELATIONS = [
    "SELECT * FROM visits",
    "SELECT person_id, cost FROM visits WHERE cost > 100",
    "SELECT cost * quantity AS a, cost + quantity AS b, cost - quantity AS c, -cost AS d FROM visits",
    "SELECT cost / quantity AS a, quantity / 3 AS b, (site_id + 1) / 2 AS c FROM visits",
    "SELECT quantity % 3 AS a, MOD(site_id, 4) AS b, (site_id - 5) % 3 AS c FROM visits",
    "SELECT quantity // 3 AS a, (site_id - 5) // 2 AS b FROM visits",
    "SELECT ABS(cost - 250) AS a, FLOOR(cost) AS b, CEIL(cost) AS c, FLOOR(cost - 250) AS d, TRUNC(cost - 250) AS e FROM visits",
    "SELECT SQRT(cost) AS a, POWER(cost, 2) AS b, cost ** 3 AS c FROM visits",
    "SELECT LEAST(quantity, 5) AS a, GREATEST(quantity, site_id + quantity, 5) AS b FROM visits WHERE site_id IS NOT NULL",
    "SELECT LEAST(GREATEST(cost, 10), 100) AS a FROM visits WHERE cost IS NOT NULL",
    "SELECT CAST(quantity AS DOUBLE) AS a, CAST(urgent AS INTEGER) AS b, CAST(seen AS DATE) AS c, quantity::BIGINT AS d FROM visits",
    "SELECT ROUND(cost + 0.25, 1) AS a FROM visits WHERE cost IS NULL",
    "SELECT COALESCE(cost, -1) AS a, COALESCE(dept, 'none') AS b, IFNULL(site_id, 0) AS c FROM visits",
    "SELECT NULLIF(dept, 'er') AS a, NULLIF(quantity, 3) AS b FROM visits",
    "SELECT CASE WHEN cost > 250 THEN 'high' WHEN cost > 100 THEN 'mid' ELSE 'low' END AS a FROM visits",
    "SELECT CASE dept WHEN 'er' THEN 1 WHEN 'icu' THEN 2 END AS a, IF(urgent, cost, 0) AS b FROM visits",
    "SELECT CASE WHEN urgent THEN quantity ELSE cost END AS a, CASE WHEN urgent THEN NULL ELSE 1 END AS b FROM visits",
    "SELECT UPPER(dept) AS a, LOWER(dept) AS b, LENGTH(dept) AS c, TRIM(dept) AS d FROM visits",
    "SELECT SUBSTRING(dept, 1, 2) AS a, SUBSTRING(dept, 2) AS b, LEFT(dept, 1) AS c FROM visits",
    "SELECT dept || '-x' AS a, CONCAT(dept, '!') AS b, CONCAT('a', dept, 'b') AS c FROM visits",
    "SELECT YEAR(day) AS a, MONTH(day) AS b, DAY(day) AS c, QUARTER(day) AS d, ISODOW(day) AS e FROM visits",
    "SELECT HOUR(seen) AS a, MINUTE(seen) AS b, EXTRACT(YEAR FROM seen) AS c, DATE_PART('month', seen) AS d FROM visits",
    "SELECT DATE_TRUNC('month', day)::DATE AS a, DATE_TRUNC('week', day)::DATE AS b, DATE_TRUNC('year', seen)::DATE AS c FROM visits",
    "SELECT DATE_TRUNC('quarter', seen)::DATE AS a, DATE_TRUNC('day', seen)::DATE AS b FROM visits",
    "SELECT WEEK(day) AS a, EXTRACT(ISOYEAR FROM day) AS b, DAYOFYEAR(day) AS c, EXTRACT(DOW FROM day) AS d, SECOND(seen) AS e FROM visits",
    "SELECT DATE_TRUNC('hour', seen) AS a, DATE_TRUNC('minute', seen) AS b, DAYOFWEEK(seen) AS c FROM visits",
    "SELECT day - DATE '2024-03-01' AS a, DATE_DIFF('day', day, seen::DATE) AS b, DATEDIFF('week', DATE '2024-01-03', day) AS c FROM visits",
    "SELECT DATE_DIFF('month', DATE '2023-12-31', day) AS a, DATE_DIFF('quarter', DATE '2023-12-31', day) AS b FROM visits",
    "SELECT DATE_DIFF('year', DATE '2000-12-31', day) AS a, DATE_DIFF('hour', TIMESTAMP '2024-01-01 00:30:00', seen) AS b FROM visits",
    "SELECT DATE_DIFF('minute', TIMESTAMP '2024-06-01 00:30:59', seen) AS a, DATE_DIFF('second', TIMESTAMP '2024-06-01 00:30:59', seen) AS b FROM visits",
    "SELECT DATE_SUB('year', DATE '2000-02-29', day) AS a, DATE_SUB('day', DATE '2024-06-01', day) AS b, DATE_SUB('week', DATE '2024-06-01', day) AS c FROM visits",
    "SELECT EXTRACT(YEAR FROM AGE(day, DATE '1990-07-15')) AS a FROM visits",
    "SELECT (day + INTERVAL 90 DAY)::DATE AS a, (day - INTERVAL '3 months')::DATE AS b, day + 30 AS c, day - 400 AS d, day + quantity AS e FROM visits",
    "SELECT seen + INTERVAL 90 DAY AS a, seen - INTERVAL 5 HOUR AS b, seen + INTERVAL 1 MONTH AS c, seen - INTERVAL 7 MINUTE AS d FROM visits",
    "SELECT CAST(day AS TIMESTAMP) AS a, (DATE_ADD(day, INTERVAL 1 YEAR))::DATE AS b FROM visits",
    "SELECT STRFTIME(day, '%Y-%m') AS a, STRFTIME(day, '%d/%m/%Y') AS b, STRFTIME(day, '%G-W%V') AS c, STRFTIME(day, '%a %j') AS d FROM visits",
    "SELECT STRFTIME(seen, '%Y-%m-%d %H:%M:%S') AS a, MONTHNAME(day) AS b, DAYNAME(day) AS c, STRFTIME(day, '%b 100%%') AS d FROM visits",
    "SELECT * FROM visits WHERE seen - TIMESTAMP '2024-06-01' < INTERVAL 90 DAY AND day - DATE '2024-01-01' <= 200",
    "SELECT * FROM visits WHERE INTERVAL 36 HOUR < seen - TIMESTAMP '2024-06-01'",
    "SELECT * FROM visits WHERE CAST(day AS TIMESTAMP) + INTERVAL 90 DAY >= seen",
    "SELECT * FROM visits WHERE day + INTERVAL 90 DAY >= DATE '2024-06-01'",
    "SELECT cost / NULLIF(site_id, 0) AS a, open / NULLIF(cost, 0) AS b, cost / (NULLIF(quantity, 0)) AS c FROM visits",
    "SELECT * FROM visits WHERE site_id IN (SELECT id FROM sites WHERE beds > 100)",
    "SELECT * FROM visits WHERE site_id NOT IN (SELECT id FROM sites WHERE beds > 100) AND cost > 10",
    "SELECT * FROM visits WHERE site_id + 1 IN (SELECT beds FROM sites)",
    "SELECT * FROM visits WHERE site_id NOT IN (SELECT beds FROM sites)",
    "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM sites s WHERE s.id = v.site_id AND s.region = 'n')",
    "SELECT * FROM visits v WHERE NOT EXISTS (SELECT * FROM sites s JOIN regions r ON s.region = r.region WHERE s.id = v.site_id)",
    "SELECT cost / 20 AS a, FLOOR(cost / 20) * 20 AS b, CEIL(cost / 20) * 20 + 1 AS c FROM visits",
    "SELECT * FROM visits WHERE cost IS NULL",
    "SELECT * FROM visits WHERE cost IS NOT NULL AND dept IS NOT NULL",
    "SELECT * FROM visits WHERE urgent",
    "SELECT * FROM visits WHERE NOT urgent",
    "SELECT * FROM visits WHERE urgent IS TRUE OR urgent IS NULL",
    "SELECT * FROM visits WHERE urgent IS NOT TRUE",
    "SELECT * FROM visits WHERE urgent IS NOT FALSE",
    "SELECT * FROM visits WHERE dept IN ('er', 'lab')",
    "SELECT * FROM visits WHERE dept NOT IN ('er', 'lab')",
    "SELECT * FROM visits WHERE dept IN ('er', NULL)",
    "SELECT * FROM visits WHERE dept NOT IN ('er', NULL)",
    "SELECT * FROM visits WHERE cost BETWEEN 100 AND 300",
    "SELECT * FROM visits WHERE cost NOT BETWEEN 100 AND 300",
    "SELECT * FROM visits WHERE dept LIKE '%r' OR dept LIKE '_c_'",
    "SELECT * FROM visits WHERE dept ILIKE 'E%' OR dept NOT LIKE '%a%'",
    "SELECT * FROM visits WHERE STARTS_WITH(dept, 'i')",
    "SELECT * FROM visits WHERE day >= '2024-03-01' AND seen < '2024-09-01 12:00:00'",
    "SELECT * FROM visits WHERE day BETWEEN DATE '2024-02-01' AND CAST('2024-04-30' AS DATE)",
    "SELECT * FROM visits WHERE seen >= DATE '2024-06-01'",
    "SELECT * FROM visits WHERE (cost > 100 OR urgent) AND NOT (dept = 'er' OR site_id = 3)",
    "SELECT * FROM visits WHERE cost > 100 OR (urgent AND dept = 'icu') OR site_id IS NULL",
    "SELECT * FROM visits WHERE quantity = 3.0 OR cost <> 5",
    "SELECT * EXCLUDE (cost, open) FROM visits",
    "SELECT v.*, s.region FROM visits v JOIN sites s ON v.site_id = s.id",
    "SELECT v.person_id, s.region, s.beds FROM visits v LEFT JOIN sites s ON v.site_id = s.id AND s.beds > 100",
    "SELECT v.person_id, s.region, r.population FROM visits v JOIN sites s ON v.site_id = s.id JOIN regions r USING (region)",
    "SELECT v.cost, s.beds FROM visits v JOIN sites s ON v.site_id = s.id AND v.cost > s.beds",
    "SELECT v.cost, s.region FROM visits v, sites s WHERE v.site_id = s.id AND v.cost > 50",
    "SELECT v.dept, r.drug, v.person_id FROM visits v JOIN rx r USING (person_id)",
    "SELECT v.dept, r.drug, r.dose FROM visits v LEFT JOIN rx r ON v.person_id = r.person_id AND r.dose > 5",
    "SELECT a.dept, b.dept AS other FROM visits a JOIN visits b ON a.person_id = b.person_id AND a.site_id = b.site_id",
    "SELECT p.age, v.cost FROM visits v JOIN persons p ON p.id = v.person_id WHERE p.age > 30",
    "SELECT i.sku, o.total FROM items i JOIN orders o ON i.order_id = o.order_id",
    "SELECT i.sku, p.amount FROM items i JOIN payments p ON i.order_id = p.order_id",
    "SELECT dept AS x, person_id FROM visits UNION ALL SELECT drug, person_id FROM rx",
    "SELECT site_id AS x, person_id FROM visits UNION ALL SELECT 0, person_id FROM rx UNION ALL SELECT age, id FROM persons",
    "SELECT person_id, COUNT(*) AS n, COUNT(cost) AS m FROM visits GROUP BY person_id",
    "SELECT person_id, SUM(quantity) AS s, SUM(cost) AS t, AVG(cost) AS a FROM visits GROUP BY person_id",
    "SELECT person_id, MIN(cost) AS lo, MAX(cost) AS hi, MIN(day) AS first, MAX(dept) AS last FROM visits GROUP BY person_id",
    "SELECT person_id, dept, COUNT(DISTINCT site_id) AS n FROM visits GROUP BY person_id, dept",
    "SELECT person_id, MONTH(day) AS m, COUNT(*) AS n FROM visits GROUP BY 1, 2 HAVING COUNT(*) > 1",
    "SELECT person_id, COUNT(*) FILTER (WHERE urgent) AS n, SUM(cost) FILTER (WHERE quantity > 3) AS s FROM visits GROUP BY person_id",
    "SELECT COUNT(*) AS n, person_id, MAX(cost) - MIN(cost) AS spread FROM visits GROUP BY person_id HAVING spread > 10",
    "SELECT person_id, dept FROM visits GROUP BY person_id, dept",
    "SELECT dept, SUM(quantity) AS s FROM visits GROUP BY person_id, dept",
    "SELECT t.n, p.age FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) t JOIN persons p ON p.id = t.person_id",
    "WITH a AS (SELECT person_id, cost * 2 AS c FROM visits), b(who, what) AS (SELECT * FROM a WHERE c > 50) SELECT what, who FROM b",
    "SELECT person_id, SUM(n) AS s FROM (SELECT person_id, dept, COUNT(*) AS n FROM visits GROUP BY person_id, dept) GROUP BY person_id",
]


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Small tables that keep what is declared of them, with NULL wherever that is allowed."""
    coin = random.Random(11)
    connection = duckdb.connect()

    def maybe(value: Any) -> Any:
        return None if coin.random() < 0.15 else value

    def day() -> datetime.date:
        return datetime.date(2024, 1, 1) + datetime.timedelta(days=coin.randrange(366))

    rows = {
        "visits (person_id BIGINT, site_id INT, cost DOUBLE, quantity INT, dept TEXT, day DATE, seen TIMESTAMP, urgent BOOLEAN, open DOUBLE)": [
            (
                coin.randrange(20),
                maybe(coin.randrange(10)),
                maybe(coin.randrange(2000) / 4),
                coin.randint(1, 10),
                maybe(coin.choice(["er", "icu", "lab"])),
                maybe(day()),
                maybe(datetime.datetime.combine(day(), datetime.time(coin.randrange(24), coin.randrange(60)))),
                maybe(coin.random() < 0.5),
                maybe(coin.uniform(-1e6, 1e6)),
            )
            for _ in range(150)
        ],
        "persons (id BIGINT, age INT, sex TEXT, name TEXT)": [(i, maybe(coin.randrange(100)), maybe("f"), f"p{i}") for i in range(18)],
        "rx (person_id BIGINT, drug TEXT, dose DOUBLE)": [
            (coin.randrange(22), maybe(coin.choice("xyz")), maybe(coin.randrange(11))) for _ in range(40)
        ],
        "sites (id INT, region TEXT, beds INT)": [(i, maybe(coin.choice(["n", "s"])), maybe(coin.randrange(300))) for i in range(8)],
        "regions (region TEXT, population BIGINT)": [("n", 1000), ("s", 2000), ("w", 3000)],
        "orders (order_id BIGINT, person_id BIGINT, total DOUBLE)": [
            (i, coin.randrange(10), maybe(coin.randrange(100))) for i in range(30)
        ],
        "items (order_id BIGINT, sku TEXT, price DOUBLE)": [(maybe(coin.randrange(30)), maybe(coin.choice("abc")), 1.5) for _ in range(50)],
        "payments (order_id BIGINT, amount DOUBLE)": [(maybe(coin.randrange(30)), maybe(coin.randrange(50))) for _ in range(40)],
    }
    for declared, values in rows.items():
        connection.execute(f"CREATE TABLE {declared}")
        name = declared.split()[0]
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(values[0]))})", values)
    yield connection
    connection.close()


def plain(value: Any) -> Any:
    """A value as one can compare it: numbers as floats of eleven digits."""
    if isinstance(value, bool) or value is None or isinstance(value, str | datetime.date):
        return str(value)
    return float(f"{float(value):.11g}") if math.isfinite(float(value)) else str(value)


def sorted_rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(plain(value) for value in row) for row in rows), key=repr)


def test_logarithms_and_exponentials_are_on_a_fine_grid(engine: duckdb.DuckDBPyConnection) -> None:
    """So that engines whose libraries differ in the last digit agree."""
    text = "SELECT cost, LN(cost + 1) AS a, EXP(cost / 500) AS b FROM visits"
    relation = read_query(parse(text, "duckdb").tree, Context(CATALOG, "duckdb", read_query)).relation
    for cost, logarithm, power in engine.execute(f"SELECT cost, a, b FROM ({write_relation(relation, DUCKDB)}) AS t").fetchall():
        if cost is not None:
            assert (logarithm * 2**32).is_integer()
            assert logarithm == pytest.approx(math.log(cost + 1), abs=2**-32)
            assert power == pytest.approx(math.exp(cost / 500), abs=2**-29)


@pytest.mark.parametrize("text", RELATIONS, ids=lambda text: text[:70])
def test_same_rows(text: str, engine: duckdb.DuckDBPyConnection) -> None:
    relation = read_query(parse(text, "duckdb").tree, Context(CATALOG, "duckdb", read_query)).relation
    names = ", ".join(DUCKDB.identifier(name) for name in relation.schema)
    theirs = engine.execute(text)
    assert [column[0] for column in theirs.description] == list(relation.schema)
    expected = sorted_rows(theirs.fetchall())
    found = sorted_rows(engine.execute(f"SELECT {names} FROM ({write_relation(relation, DUCKDB)}) AS t").fetchall())
    assert found == expected
