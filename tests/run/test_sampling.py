"""The sample of a run: a function of the key and the unit, whole units, fresh for each draw, and seen by nobody."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pyarrow as pa
import pytest
from attrs import evolve
from plan.questions import catalog, steps

from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Columns, SentTable
from discreet.private import reveal
from discreet.query.relation.node import Scan
from discreet.run.execute import execute, total_statements
from discreet.run.sampling import draw_key, sampled_rows
from discreet.tables.kind import Kind

RATE = Fraction(1, 20)
IDS = [person for person in range(20_000) for _ in range(1 + person % 3)]
KEY = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def data() -> Iterator[DuckDB]:
    rows = len(IDS)
    table = pa.table({"id": IDS, "dept": ["abc"[i % 3] for i in range(rows)], "x": [1.0] * rows, "age": [40] * rows})
    with DuckDB.open({"t": table}) as found:
        yield found


def kept(data: DuckDB, key: SentTable, dialect: Dialect = DUCKDB) -> list[int]:
    """The identifiers of the rows in the sample."""
    rows = sampled_rows(Scan(catalog().tables[0]), RATE, dialect)
    return sorted(reveal(data.run(f"SELECT __unit FROM ({rows}) AS r", [key]))["__unit"].tolist())


def given(key: str) -> SentTable:
    return SentTable("__sample", (("k", Kind.TEXT, (key,)),))


def test_units_are_kept_by_the_key_and_their_identifier_alone(data: DuckDB) -> None:
    below = (RATE.numerator << 64) // RATE.denominator
    expected = [i for i in IDS if int(hashlib.sha256(f"{KEY}{i}".encode()).hexdigest()[:16], 16) < below]
    for by_unit in (True, False):
        assert kept(data, given(KEY), evolve(DUCKDB, hashes_units=by_unit)) == expected


@pytest.mark.parametrize(("rate", "below"), [("1/3", "5555555555555555"), ("2/3", "aaaaaaaaaaaaaaaa"), ("1/2", "8000000000000000")])
def test_the_probability_is_never_above_the_rate(rate: str, below: str) -> None:
    """The threshold is rounded down: a hash is below it with the rate's probability, or less."""
    assert f"'{below}'" in sampled_rows(Scan(catalog().tables[0]), Fraction(rate), DUCKDB)


def test_all_rows_of_a_unit_are_kept_or_none(data: DuckDB) -> None:
    found = kept(data, draw_key())
    assert found == [i for i in IDS if i in set(found)]


def test_the_share_of_units_is_the_rate(data: DuckDB) -> None:
    units = len(set(kept(data, draw_key())))
    assert abs(units - 1000) < 5 * (20_000 * 0.05 * 0.95) ** 0.5  # beyond with probability 6e-7


def test_two_draws_differ_and_are_independent(data: DuckDB) -> None:
    first, second = set(kept(data, draw_key())), set(kept(data, draw_key()))
    assert len(first & second) < 100  # about 50 are expected


def test_a_key_has_128_bits_and_is_not_printed() -> None:
    keys = {str(draw_key().columns[0][2][0]) for _ in range(100)}
    assert len(keys) == 100
    assert all(len(bytes.fromhex(key)) == 16 for key in keys)
    assert not any(key in repr(given(key)) for key in keys)


def test_one_run_has_one_key_and_another_run_another(data: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, Sequence[SentTable]]] = []
    batches = DuckDB.batches

    def noting(self: DuckDB, sql: str, tables: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        sent.append((sql, tables))
        return batches(self, sql, tables, rows)

    monkeypatch.setattr(DuckDB, "batches", noting)
    plan = steps("SELECT dept, COUNT(*) AS n, COUNT(DISTINCT id) AS u FROM t GROUP BY dept", catalog({"rows": 3}))
    plan = evolve(plan, question=evolve(plan.question, sample=RATE))
    found = [execute(plan, data) for _ in range(2)]
    keys = [tables[0].columns[0][2][0] for _, tables in sent]
    assert len(keys) == 4
    assert (keys[0], keys[2]) == (keys[1], keys[3])
    assert keys[0] != keys[2]
    for answers in found:
        public = json.dumps([repr(answers), str(answers.plan), [statement.text for _, statement in total_statements(plan, DUCKDB)]])
        assert not any(str(key) in public for key in keys)
    assert not any(str(key) in sql for sql, _ in sent for key in keys)
