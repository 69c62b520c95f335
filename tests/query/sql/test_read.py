"""What is read, in every spelling and dialect."""
# ruff: noqa: E501

from __future__ import annotations

import math

import pytest
from query.sql.accepted import ACCEPTED
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.relation.expr import Call, Column, Expr
from discreet.query.relation.functions import FUNCTIONS
from discreet.query.sql.read import read
from discreet.tables.table import Contributions


@pytest.mark.parametrize(("text", "meaning"), ACCEPTED, ids=[text[:70] for text, _ in ACCEPTED])
def test_read_as(text: str, meaning: str) -> None:
    assert shown(read(text, CATALOG)) == meaning


def test_there_are_many() -> None:
    assert len({text for text, _ in ACCEPTED}) >= 160


@pytest.mark.parametrize("text", [text for text, _ in ACCEPTED], ids=lambda text: text[:60])
def test_outputs_use_known_names_and_computable_functions(text: str) -> None:
    """What comes after the release works on names of keys and measures alone, with functions that can be computed without an engine."""
    question = read(text, CATALOG)
    known = {name for name, _ in question.keys} | {name for name, _ in question.statistics}
    assert len(known) == len(question.keys) + len(question.statistics)
    for _, window in question.windows:
        for expr in window.exprs:
            check(expr, known)
    known |= {name for name, _ in question.windows}
    after = [expr for _, expr in question.outputs] + [expr for expr, _ in question.order] + ([question.having] if question.having else [])
    for expr in after:
        check(expr, known)
    assert hash(question) == hash(read(text, CATALOG))


def check(expr: Expr, known: set[str]) -> None:
    match expr:
        case Column(name):
            assert name in known
        case Call(function, arguments):
            assert FUNCTIONS[function].value is not None
            for argument in arguments:
                check(argument, known)


SAME = [
    ["SELECT COUNT(*) AS n FROM visits", "select\tcount( * )\nas n from Visits -- x", "(SELECT COUNT(1) n FROM visits v);"],
    [
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept",
        "SELECT dept, COUNT(*) n FROM visits GROUP BY 1",
        "FROM visits SELECT dept, COUNT(*) AS n GROUP BY ALL",
    ],
    ["SELECT COUNT(*) FROM visits WHERE cost > 1 AND urgent", "SELECT COUNT(*) FROM (SELECT * FROM visits WHERE cost > 1) WHERE urgent"],
    [
        "SELECT COUNTIF(urgent) AS n FROM visits",
        "SELECT COUNT(*) FILTER (WHERE urgent) AS n FROM visits",
        "SELECT COUNT(CASE WHEN urgent THEN 1 END) AS n FROM visits",
    ],
    [
        "SELECT region, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id GROUP BY region",
        "SELECT s.region, COUNT(*) FROM visits, sites AS s WHERE s.id = site_id GROUP BY s.region",
        "SELECT other.region, COUNT(*) FROM visits x INNER JOIN sites other ON (other.id = x.site_id) GROUP BY other.region",
    ],
    [
        "SELECT drug, COUNT(*) FROM visits JOIN rx USING (person_id) GROUP BY drug",
        "SELECT drug, COUNT(*) FROM visits a JOIN rx b ON b.person_id = a.person_id GROUP BY b.drug",
        "SELECT drug, COUNT(*) FROM visits a, rx b WHERE a.person_id = b.person_id GROUP BY 1",
    ],
    [
        "SELECT MEDIAN(cost) AS m FROM visits",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) AS m FROM visits",
        "SELECT QUANTILE(cost, 0.50) AS m FROM visits",
    ],
    ["SELECT AVG(cost) FROM visits WHERE day >= '2024-01-01'", "SELECT AVG(cost) FROM visits WHERE day >= DATE '2024-01-01'"],
    ["SELECT COUNT(*) FROM visits WHERE cost BETWEEN 1 AND 2", "SELECT COUNT(*) FROM visits WHERE cost >= 1 AND cost <= 2"],
    ["SELECT SUM(CLAMP(open, 0, 9)) FROM visits", "SELECT SUM(LEAST(GREATEST(open, 0), 9)) FROM visits"],
]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0][:60])
def test_the_same_question_in_other_words(texts: list[str]) -> None:
    first, *rest = (read(text, CATALOG) for text in texts)
    assert all(other == first for other in rest), [shown(q) for q in (first, *rest)]


DIFFERENT = [
    ("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM rx"),
    ("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) AS n FROM visits"),
    ("SELECT MODE(CASE WHEN urgent THEN TRUE END) FROM visits", "SELECT MODE(CASE WHEN urgent THEN 1 END) FROM visits"),
    ("SELECT SUM(CASE WHEN urgent THEN 1 END) FROM visits", "SELECT SUM(CASE WHEN urgent THEN 1.0 END) FROM visits"),
    ("SELECT VAR_POP(cost) AS v FROM visits", "SELECT VAR_SAMP(cost) AS v FROM visits"),
    ("SELECT COUNT(*) FROM visits LEFT JOIN sites ON site_id = id", "SELECT COUNT(*) FROM visits JOIN sites ON site_id = id"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_questions_differ(one: str, other: str) -> None:
    assert read(one, CATALOG) != read(other, CATALOG)


MONTHLY = {
    "duckdb": "SELECT dept, EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS DOUBLE)) AS q FROM visits "
    "WHERE day >= DATE '2024-01-01' AND dept LIKE 'e%' GROUP BY dept, EXTRACT(MONTH FROM day) ORDER BY n DESC LIMIT 5",
    "postgres": "SELECT dept, DATE_PART('month', day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(quantity::double precision) AS q FROM visits "
    "WHERE day >= '2024-01-01' AND dept LIKE 'e%' GROUP BY 1, 2 ORDER BY n DESC FETCH FIRST 5 ROWS ONLY",
    "bigquery": "SELECT `dept`, EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS FLOAT64)) AS q FROM `visits` "
    "WHERE day >= DATE '2024-01-01' AND dept LIKE 'e%' GROUP BY dept, 2 ORDER BY n DESC LIMIT 5",
    "snowflake": 'SELECT DEPT, MONTH(DAY) AS "m", COUNT(*) AS "n", STDDEV(cost) AS "s", SUM(CAST(quantity AS DOUBLE)) AS "q" FROM VISITS '
    "WHERE day >= '2024-01-01'::DATE AND dept LIKE 'e%' GROUP BY dept, 2 ORDER BY 3 DESC LIMIT 5",
    "spark": "SELECT dept, MONTH(day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS DOUBLE)) AS q FROM visits "
    "WHERE day >= DATE '2024-01-01' AND dept LIKE 'e%' GROUP BY dept, MONTH(day) ORDER BY n DESC LIMIT 5",
    "databricks": "SELECT dept, EXTRACT(month FROM day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS DOUBLE)) AS q FROM visits "
    "WHERE day >= '2024-01-01' AND dept LIKE 'e%' GROUP BY ALL ORDER BY n DESC LIMIT 5",
    "redshift": "SELECT dept, EXTRACT(month FROM day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS FLOAT)) AS q FROM visits "
    "WHERE day >= '2024-01-01' AND dept LIKE 'e%' GROUP BY 1, 2 ORDER BY n DESC LIMIT 5",
    "trino": "SELECT dept, MONTH(day) AS m, COUNT(*) AS n, STDDEV(cost) AS s, SUM(CAST(quantity AS DOUBLE)) AS q FROM visits "
    "WHERE day >= DATE '2024-01-01' AND dept LIKE 'e%' GROUP BY 1, 2 ORDER BY n DESC LIMIT 5",
    "tsql": "SELECT TOP 5 dept, MONTH(day) AS m, COUNT(*) AS n, STDEV(cost) AS s, SUM(CAST(quantity AS FLOAT)) AS q FROM [visits] "
    "WHERE day >= CAST('2024-01-01' AS DATE) AND dept LIKE 'e%' GROUP BY dept, MONTH(day) ORDER BY n DESC",
}


@pytest.mark.parametrize("dialect", MONTHLY)
def test_dialects_agree(dialect: str) -> None:
    assert read(MONTHLY[dialect], CATALOG, dialect) == read(MONTHLY["duckdb"], CATALOG)


PLAIN = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT dept, AVG(cost) AS a FROM visits WHERE cost > 1.5 GROUP BY dept HAVING COUNT(*) > 3 ORDER BY AVG(cost)",
    "SELECT region, SUM(cost) AS s FROM visits v JOIN sites s ON v.site_id = s.id GROUP BY region",
    "SELECT AVG(n) AS a FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) t",
    "WITH a AS (SELECT dept FROM visits UNION ALL SELECT drug FROM rx) SELECT dept, COUNT(*) AS n FROM a GROUP BY dept",
    "SELECT CASE WHEN cost > 1 THEN 'a' ELSE 'b' END AS k, COUNT(DISTINCT person_id) AS p FROM visits GROUP BY CASE WHEN cost > 1 THEN 'a' ELSE 'b' END",
    "SELECT 1.0 * SUM(quantity) / COUNT(*) AS r FROM visits WHERE dept IN ('er', 'lab') AND cost IS NOT NULL",
]


@pytest.mark.parametrize("dialect", MONTHLY)
def test_plain_sql_means_the_same_everywhere(dialect: str) -> None:
    for text in PLAIN:
        assert read(text, CATALOG, dialect) == read(text, CATALOG)


def test_casts_to_whole_numbers_follow_the_dialect() -> None:
    text = "SELECT SUM(CAST(cost AS INT)) AS s FROM visits"
    assert "round(cost)" in shown(read(text, CATALOG)) == shown(read(text, CATALOG, "postgres"))
    assert "truncate(cost)" in shown(read(text, CATALOG, "spark")) == shown(read(text, CATALOG, "tsql"))


@pytest.mark.parametrize("dialect", ["postgres", "redshift", "trino", "tsql"])
def test_whole_division_is_not_guessed(dialect: str) -> None:
    with pytest.raises(Refused, match="drops the remainder"):
        read("SELECT SUM(quantity / 2) AS s FROM visits", CATALOG, dialect)
    with pytest.raises(Refused, match="drops the remainder"):
        read("SELECT SUM(quantity) / COUNT(*) AS s FROM visits", CATALOG, dialect)
    assert "divide(cost, 2)" in shown(read("SELECT SUM(cost / 2) AS s FROM visits", CATALOG, dialect))


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "snowflake", "spark"])
def test_division_is_real_where_the_dialect_says_so(dialect: str) -> None:
    assert "divide(quantity, 2)" in shown(read("SELECT SUM(quantity / 2) AS s FROM visits", CATALOG, dialect))


def test_least_and_largest_are_announced() -> None:
    assert read("SELECT MIN(cost), MAX(cost), COUNT(*) FROM visits", CATALOG).notes == (
        "MIN is answered as the 0.01 quantile: the extreme value belongs to one person",
        "MAX is answered as the 0.99 quantile: the extreme value belongs to one person",
    )
    assert read("SELECT COUNT(*) FROM visits", CATALOG).notes == ()


def test_the_privacy_clause_is_read_in_every_dialect() -> None:
    text = (
        "WITH v AS (SELECT * FROM visits) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1, delta = 1e-7, max_groups_contributed = 2, "
        "privacy_unit_column = person_id) dept, COUNT(*, contribution_bounds_per_group => (0, 3)) AS n FROM v GROUP BY dept"
    )
    for dialect in MONTHLY:
        question = read(text, CATALOG, dialect)
        assert (question.epsilon, question.delta, question.contributions) == (
            pytest.approx(0.1),
            pytest.approx(1e-7),
            Contributions(groups=2, per_group=1),
        )
        assert question == read(text, CATALOG)


def test_the_privacy_clause_is_exact() -> None:
    question = read("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1) COUNT(*) FROM visits", CATALOG)
    assert question.epsilon is not None
    assert question.epsilon * 10 == 1
    assert not math.isclose(float(question.epsilon), 0.2)


def test_comments_do_not_count() -> None:
    plain: Question = read("SELECT SUM(cost) FROM visits", CATALOG)
    for text in (
        "SELECT SUM(cost) /* sqlglot.anonymous */ FROM visits",
        "/* discreet-dp:0 */ SELECT /* x */ SUM(/* y */ cost) FROM visits -- z",
        "SELECT SUM(cost) FROM visits /* WHERE cost > 1 */",
        "SELECT SUM(cost) FROM visits -- ; DROP TABLE visits",
    ):
        assert read(text, CATALOG) == plain
