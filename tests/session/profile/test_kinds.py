"""Types that nobody declared: texts are sorted by what they parse as, and only clear counts decide."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from session.profile.people import quiet

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.private import reveal
from discreet.query.relation.node import Scan, Select
from discreet.query.relation.write import write_relation
from discreet.session.profile.cells import Counts
from discreet.session.profile.kinds import DAY, MISSING, MOMENT, NUMBER, OTHER, PADDED, WHOLE, kind_found, with_parsed
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow

CODES = {
    "": MISSING, "0": WHOLE, "-0": WHOLE, "12": WHOLE, "12.0": WHOLE, " 12 ": WHOLE, "+5": WHOLE, "1e3": WHOLE,
    "9223372036854775807": WHOLE, "0.5": NUMBER, "1.5": NUMBER, ".5": NUMBER, "9223372036854775808": NUMBER, "1e400": NUMBER,
    "-1e-400": WHOLE, "007": PADDED, "-007": PADDED, "+01": PADDED, " 01": PADDED, "00": PADDED, "01.5": PADDED,
    "2024-02-29": DAY, "2024-02-29 00:00:00": DAY, "2024-02-29 10:00:00": MOMENT, "2024-02-29T00:00:00+02:00": MOMENT,
    "2023-02-29": OTHER, "01/02/2024": OTHER, "n/a": OTHER, "nan": OTHER, "1,5": OTHER, "0x10": OTHER, "x": OTHER, "é\u0301": OTHER,
    "99999999-01-01": OTHER, "-infinity": NUMBER, "00:30": OTHER, "true": OTHER, "0" * 5000 + "x": OTHER,
}  # fmt: skip


def counts(sd: float = 1.0, **cells: float) -> Counts:
    names = ("missing", "whole", "number", "day", "moment", "padded", "other")
    return Counts(tuple(cells.get(name, 0.0) for name in names), sd, 5 * sd)


def test_every_text_has_one_code_and_none_fails(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("n,x\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(CODES)))
    columns = tuple(ColumnMetadata(name, Kind.TEXT) for name in ("n", "x"))
    scan, codes = with_parsed(Scan(Table("t", columns, EachRow())), ["x", "n"])
    assert [column.name for column in scan.table.columns][:2] == ["n", "x"]
    numbered = evolve(scan, table=evolve(scan.table, columns=(columns[0].parsed_as(Kind.INTEGER), *scan.table.columns[1:])))
    with DuckDB.open({"t": place}) as engine:
        inside = write_relation(Select(numbered, (("n", discreet.query.relation.expr.Column("n")), ("c", codes["x"]))), engine.dialect)
        found = reveal(engine.run(f"SELECT n, CAST(c AS BIGINT) AS c FROM ({inside}) AS t"))
    by_row = dict(zip(found["n"].tolist(), found["c"].tolist(), strict=True))
    assert {text[:30]: by_row[i] for i, text in enumerate(CODES)} == {text[:30]: code for text, code in CODES.items()}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ({}, Kind.TEXT),
        ({"missing": 1000}, Kind.TEXT),
        ({"whole": 1000}, Kind.INTEGER),
        ({"whole": 1000, "missing": 9000}, Kind.INTEGER),
        ({"whole": 960, "other": 40}, Kind.INTEGER),
        ({"whole": 960, "number": 10}, Kind.REAL),
        ({"whole": 10, "number": 960, "other": 20}, Kind.REAL),
        ({"number": 900, "other": 100}, Kind.TEXT),
        ({"whole": 990, "padded": 10}, Kind.TEXT),
        ({"number": 990, "padded": 10}, Kind.TEXT),
        ({"day": 990, "other": 10}, Kind.DATE),
        ({"day": 980, "moment": 20}, Kind.TIMESTAMP),
        ({"moment": 980}, Kind.TIMESTAMP),
        ({"whole": 500, "day": 500}, Kind.TEXT),
        ({"whole": 9}, Kind.TEXT),  # no more than noise may have made
        ({"whole": -5, "number": -3, "other": -4}, Kind.TEXT),
    ],
    ids=str,
)
def test_a_clear_majority_decides(cells: Mapping[str, float], kind: Kind) -> None:
    found, about = kind_found(counts(**cells))
    assert found is kind
    assert 0 <= about.share <= 1
    assert 0 <= about.half <= 1
    assert about.padded == (cells.get("padded", 0) > 3)
    assert kind is Kind.TEXT or about.closest is kind


def test_what_noise_may_have_added_is_forgiven_and_told() -> None:
    assert kind_found(counts(whole=1000, other=60, sd=1))[0] is Kind.TEXT
    kind, about = kind_found(counts(whole=1000, other=60, sd=10))
    assert kind is Kind.INTEGER
    assert about.share == pytest.approx(1000 / 1060)
    assert about.half == pytest.approx(1.96 * 10 * ((60 / 1060) ** 2 + 5 * (1000 / 1060) ** 2) ** 0.5 / 1060)


# ── through a session ────────────────────────────────────────────────────────────────────────────────────────────────


def written(folder: Path, rows: int = 3000) -> Path:
    lines = [
        f"{i},{'n/a' if i % 50 == 0 else i % 100 / 4},2024-01-{1 + i % 28:02d},{i % 1000:05d},{'ab'[i % 2]},{i % 5}" for i in range(rows)
    ]
    (folder / "trips.csv").write_text("\n".join(["id,fare,day,zip,town,n", *lines]) + "\n")
    return folder / "trips.csv"


def opened(place: Path, **declared: Any) -> discreet.Session:
    given = {"unit": "id", "epsilon": 1000, "delta": 1e-4, "one_row_per_unit": True} | declared
    return discreet.connect(place, **given)


def test_later_questions_read_the_types_that_were_found(tmp_path: Path) -> None:
    place = written(tmp_path)
    asked = "SELECT AVG(fare) AS m, COUNT(fare) AS n FROM trips WHERE day < DATE '2024-01-15'"
    with opened(place) as db:
        before = db.sql("SELECT town, COUNT(*) AS n FROM trips WHERE fare = 'n/a' GROUP BY town")
        with pytest.raises(discreet.Refused, match="or buy a profile, which finds types privately"):
            db.sql(asked)
        profile = db.profile(epsilon=100, progress=quiet)
        kinds = {one.name: one.kind for one in profile.columns}
        assert kinds == {"fare": Kind.REAL, "day": Kind.DATE, "zip": Kind.TEXT, "town": Kind.TEXT, "n": Kind.INTEGER}
        about = profile["fare"].type_found
        assert about is not None
        assert about.share == pytest.approx(0.98, abs=about.half + 0.005)
        assert profile["fare"].histogram is not None
        assert "type found: 98" in repr(profile)
        assert "leading zeros" in repr(profile)
        assert before.release(epsilon=50).rows[0]["n"] == pytest.approx(60, abs=5)  # asked when it was text
    with opened(place) as later:
        answer = later.ask(asked, epsilon=100).rows[0]
        values = [i % 100 / 4 for i in range(3000) if i % 50 and i % 28 < 14]
        assert answer["n"] == pytest.approx(len(values), abs=5)
        assert answer["m"] == pytest.approx(sum(values) / len(values), abs=0.5)
        by = later.ask("SELECT n, COUNT(*) AS c FROM trips GROUP BY n", epsilon=100).rows
        assert {row["n"] for row in by} == {0, 1, 2, 3, 4}
        later.sql(asked).dry_run()
        with pytest.raises(discreet.Refused, match="id, zip and town of trips have no declared types"):
            later.sql("SELECT AVG(zip) FROM trips")
    with opened(place, columns={"fare": "text", "id": "text"}) as declared, pytest.raises(discreet.Refused, match="fare is text"):
        declared.sql("SELECT AVG(fare) FROM trips")


def test_declared_keys_say_that_a_column_is_text(tmp_path: Path) -> None:
    with opened(written(tmp_path), keys={"n": ["0", "1"]}, ledger=":memory:") as db:
        found = db.profile(epsilon=100, progress=quiet)["n"]
        assert (found.kind, found.type_found) == (Kind.TEXT, None)


@pytest.mark.parametrize("rows", ["", "1,,,\n", "1,x,2,2024-01-01\n2,,,\n"])
def test_a_table_of_nearly_nothing_is_text(tmp_path: Path, rows: str) -> None:
    (tmp_path / "t.csv").write_text("id,a,b,c\n" + rows)
    with opened(tmp_path / "t.csv", ledger=":memory:") as db:
        profile = db.profile(epsilon=1, progress=quiet)
        assert {one.kind for one in profile.columns} == {Kind.TEXT}
        assert "read as text" in repr(profile)


def test_without_a_delta_numbers_are_found_and_texts_are_not_looked_into(tmp_path: Path) -> None:
    with opened(written(tmp_path), delta=0, ledger=":memory:") as db:
        assert "columns that turn out to be text are left out" in db.profile().plan(epsilon=100).explain()
        profile = db.profile(epsilon=100, progress=quiet)
        assert profile.delta == 0
        assert profile["fare"].bounds is not None
        assert profile["town"].values is None


def test_a_synthetic_table_has_the_types_that_were_found(tmp_path: Path) -> None:
    with opened(written(tmp_path), ledger=":memory:") as db:
        db.profile(epsilon=100, progress=quiet)
        made = db.synthesize("trips", epsilon=50, columns=["fare", "n", "town"], progress=quiet)
        assert all(isinstance(row["n"], int) for row in made.rows[:20])
