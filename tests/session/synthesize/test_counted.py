"""Marginals counted inside engines are those counted by hand, each unit bounded."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import psycopg
from session.synthesize import clinic

import discreet
from discreet.algorithms.marginals.domain import Domain
from discreet.private import reveal
from discreet.session.synthesize.codings import codings_of
from discreet.session.synthesize.counted import ONE, EngineCounts
from discreet.session.synthesize.discover import columns_of
from discreet.session.synthesize.domains import Domains

NAMES = [f"c{i}" for i in range(5)]
CLIQUES = [clique for k in range(4) for clique in combinations(range(5), k)]


def counts(db: discreet.Session, rows: int, adjacency: Any = "add/remove") -> EngineCounts:
    table = db.table("visits")
    codings = codings_of(columns_of(table.relation, ["dept", "age", "cost", "urgent", "day"], other=True), Domains(), 8)
    coded = table.with_columns(**{name: coding.sql for name, coding in zip(NAMES, codings, strict=True)})
    domain = Domain(tuple(coding.name for coding in codings), tuple(coding.size for coding in codings))
    return EngineCounts(db._engine, coded.relation, NAMES, domain, rows, adjacency)


def by_hand(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and weights of all rows, computed in Python."""
    codes, weights = [], []
    people = clinic.visits()["patient"].to_list()
    many = {person: people.count(person) for person in set(people)}
    for row in clinic.visits().iter_rows(named=True):
        dept = {"er": 0, "it's": 1, "ward": 2}.get(row["dept"], 3)
        age = 8 if row["age"] is None else min(max(row["age"], 0), 119) // 15
        cost = 8 if np.isnan(row["cost"]) else min(int(min(max(row["cost"], 0), 500) / 62.5), 7)
        urgent = {False: 0, True: 1, None: 2}[row["urgent"]]
        codes.append((dept, age, cost, urgent, row["day"].month - 1))
        n = many[row["patient"]]
        weights.append(ONE if n <= rows else ONE * rows // n)
    return np.array(codes), np.array(weights)


def check(db: discreet.Session) -> None:
    codes, weights = by_hand(rows=2)
    counted = counts(db, rows=2)
    sizes = counted.domain.sizes
    assert sizes == (4, 9, 9, 3, 13)
    one_by_one = reveal(counted.marginals([(2, 3)])) | reveal(counted.marginals([()]))
    found = {**reveal(counted.marginals(CLIQUES)), **one_by_one}
    for clique in CLIQUES:
        places = np.ravel_multi_index([codes[:, i] for i in clique], [sizes[i] for i in clique]) if clique else np.zeros(len(codes), int)
        expected = np.bincount(places, weights=weights, minlength=counted.domain.cells(clique))
        assert np.array_equal(found[clique], expected), clique


def test_duckdb() -> None:
    with clinic.session() as db:
        check(db)


def test_postgres(postgres: str) -> None:
    typed = "patient bigint, dept text, age bigint, cost double precision, urgent boolean, day date"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS synthetic_visits; CREATE TABLE synthetic_visits ({typed})")
        with connection.cursor() as cursor, cursor.copy("COPY synthetic_visits FROM STDIN") as into:
            for row in clinic.visits().iter_rows():
                into.write_row(row)
    with clinic.session((postgres, "public.synthetic_visits")) as db:
        check(db)


def test_spark(spark: Any) -> None:
    with clinic.session(spark.createDataFrame(clinic.visits().to_arrow())) as db:
        check(db)


def test_what_a_unit_moves() -> None:
    with clinic.session() as db:
        assert (counts(db, 3).one, counts(db, 3).l1_sensitivity, counts(db, 3).l2_sensitivity) == (ONE, 3 * ONE, 3 * ONE)
        replaced = counts(db, 3, "replace-one")
        assert (replaced.l1_sensitivity, replaced.one_sided_sensitivity) == (6 * ONE, 3 * ONE)
        assert 1.41421 * 3 * ONE < replaced.l2_sensitivity < 1.4144 * 3 * ONE


def test_an_empty_table_counts_nothing() -> None:
    with clinic.session(clinic.visits().head(0)) as db:
        found = reveal(counts(db, 2).marginals(CLIQUES))
        assert all(not cells.any() for cells in found.values())
