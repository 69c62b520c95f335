"""BigQuery's private questions as its users write them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.sql.read import read
from discreet.query.sql.tokens import DIALECTS

CLAUSE = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-6, privacy_unit_column = person_id)"

BOUNDED = [
    ("PERCENTILE_CONT(cost, 0.5, contribution_bounds_per_row => (0, 500))", "quantile(least(greatest(cost, 0), 500), 1/2)"),
    ("APPROX_QUANTILES(cost, 10, contribution_bounds_per_row => (0, 9))[OFFSET(9)]", "quantile(least(greatest(cost, 0), 9), 9/10)"),
    ("VAR_POP(cost, contribution_bounds_per_row => (0, 9))", "variance(least(greatest(cost, 0), 9), population)"),
    ("VAR_SAMP(cost, contribution_bounds_per_row => (0, 9))", "variance(least(greatest(cost, 0), 9))"),
    ("STDDEV(cost, contribution_bounds_per_row => (0, 9))", "stddev(least(greatest(cost, 0), 9))"),
    ("STDDEV_POP(cost, contribution_bounds_per_row => (-1, 9))", "stddev(least(greatest(cost, -1), 9), population)"),
    ("SUM(cost * quantity, contribution_bounds_per_row => (0, 9))", "sum(least(greatest(multiply(cost, quantity), 0), 9))"),
    ("MAX(cost, contribution_bounds_per_row => (0, 9))", "quantile(least(greatest(cost, 0), 9), 99/100)"),
]


@pytest.mark.parametrize(("aggregate", "meaning"), BOUNDED, ids=[text for text, _ in BOUNDED])
def test_bounds_of_rows(aggregate: str, meaning: str) -> None:
    question = read(f"SELECT {CLAUSE} {aggregate} AS x FROM visits", CATALOG, "bigquery")
    assert shown(question) == f"visits ASK x={meaning} PRIVACY 1 1/1000000 None None None"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_named_bounds_are_read_in_every_dialect(dialect: str) -> None:
    text = "SELECT SUM(cost, contribution_bounds_per_row => (0, 9)) FILTER (WHERE urgent) AS s, MIN(cost) AS m FROM visits"
    assert read(text, CATALOG, dialect) == read(text, CATALOG)


REFUSED = [
    ("only COUNT, SUM and AVG", "PERCENTILE_CONT(cost, 0.5, contribution_bounds_per_group => (0, 5))"),
    ("only COUNT, SUM and AVG", "COUNT(DISTINCT dept, contribution_bounds_per_group => (0, 5))"),
    ("no bounds per row", "COUNT(*, contribution_bounds_per_row => (0, 5))"),
    ("no such argument", "VAR_POP(cost, bounds => (0, 5))"),
    ("one pair", "SUM(cost, contribution_bounds_per_row => (0, 5), contribution_bounds_per_group => (0, 5))"),
    ("swap", "STDDEV(cost, contribution_bounds_per_row => (5, 0))"),
    ("more arguments", "SUM(cost, 3, contribution_bounds_per_row => (0, 5))"),
    ("missing|could not be read", "SUM(contribution_bounds_per_row => (0, 5))"),
    ("OVER", "PERCENTILE_CONT(cost, 0.5, contribution_bounds_per_row => (0, 5)) OVER ()"),
    ("dept is text", "SUM(dept, contribution_bounds_per_row => (0, 5))"),
]


@pytest.mark.parametrize(("word", "aggregate"), REFUSED, ids=[text for _, text in REFUSED])
def test_bounds_that_are_refused(word: str, aggregate: str) -> None:
    with pytest.raises(Refused, match=word) as caught:
        read(f"SELECT {aggregate} FROM visits", CATALOG, "bigquery")
    assert "DISCREET" not in str(caught.value)


def test_a_refusal_spells_bounds_as_they_were_written() -> None:
    with pytest.raises(Refused) as caught:
        read("SELECT COUNT(*, contribution_bounds_per_row => (0, 5)) FROM visits", CATALOG)
    assert str(caught.value).startswith("COUNT(*, contribution_bounds_per_row => (0, 5)) (line 1")


@pytest.mark.parametrize(
    "name", ["`proj.ds.visits`", "proj.ds.visits", "`my-proj.ds`.visits", "my-proj.ds.visits", "ds.visits", "ds.visits AS v"]
)
def test_qualified_tables(name: str) -> None:
    text = "SELECT dept, COUNT(*) AS n FROM {} GROUP BY dept"
    assert read(text.format(name), CATALOG, "bigquery") == read(text.format("visits"), CATALOG)
    with pytest.raises(Refused):
        read(text.format(name), CATALOG, "duckdb")


def test_a_name_given_by_with_is_not_a_qualified_table() -> None:
    text = "WITH visits AS (SELECT * FROM {} WHERE urgent) SELECT COUNT(*) FROM visits"
    assert "urgent" in shown(read(text.format("p.d.visits"), CATALOG, "bigquery"))
    with pytest.raises(Refused, match="column of another table"):
        read("SELECT COUNT(*) FROM visits v JOIN v.rx r ON v.person_id = r.person_id", CATALOG, "bigquery")
    with pytest.raises(Refused, match="two datasets"):
        read("SELECT COUNT(*) FROM a.visits x JOIN b.visits y ON x.person_id = y.person_id", CATALOG, "bigquery")


def strategy(word: str, key: str = "dept", table: str = "visits") -> str:
    options = f"OPTIONS(epsilon = 1, group_selection_strategy = {word})"
    return f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {key} AS k, COUNT(*) AS n FROM {table} GROUP BY 1"


def test_group_selection_strategy() -> None:
    plain = strategy("NULL")
    assert read(strategy("PUBLIC_GROUPS"), CATALOG, "bigquery") == read(plain, CATALOG)
    assert read(strategy("public_groups", "urgent"), CATALOG, "bigquery").keys
    assert read(strategy("PUBLIC_GROUPS", "region", "visits JOIN sites ON site_id = id"), CATALOG, "bigquery").keys
    for word, bad in (
        ("PUBLIC_GROUPS is supported", strategy("LAPLACE_THRESHOLD")),
        ("PUBLIC_GROUPS is supported", strategy("1")),
        ("groups of k are not declared", strategy("PUBLIC_GROUPS", "drug", "rx")),
        ("groups of k are not declared", strategy("PUBLIC_GROUPS", "day")),
    ):
        with pytest.raises(Refused, match=word):
            read(bad, CATALOG, "bigquery")


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("DIFFERENTIAL_PRIVACY.*bigquery", "SELECT WITH ANONYMIZATION OPTIONS(epsilon = 1) ANON_COUNT(*) FROM visits"),
        ("ANON_SUM: .*SUM.*contribution_bounds_per_group", "SELECT ANON_SUM(cost CLAMPED BETWEEN 0 AND 5) FROM visits"),
        ("PERCENTILE_CONT.*contribution_bounds_per_row", "SELECT ANON_PERCENTILE_CONT(cost, 0.5 CLAMPED BETWEEN 0 AND 5) FROM visits"),
    ],
)
def test_former_names(word: str, text: str) -> None:
    with pytest.raises(Refused, match=word):
        read(text, CATALOG, "bigquery")


def test_a_sample_is_an_option() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, sample = {}) COUNT(*) AS n FROM visits"
    assert read(text.format("0.01"), CATALOG).sample == Fraction(1, 100)
    assert read(text.format("NULL"), CATALOG).sample is None
    for wrong in ("0", "1", "'0.01'", "1e-9"):
        with pytest.raises(Refused, match="sample"):
            read(text.format(wrong), CATALOG)
