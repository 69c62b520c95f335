"""`discreet profile`, and `discreet init --epsilon`: pages, files, and a draft that opens with what was bought."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars
import pytest

import discreet
from discreet.session.profile.profile import Profile
from discreet.session.project import open_project
from discreet.session.saved import open_release

DAY = datetime.date(2024, 1, 1)


def people() -> polars.DataFrame:
    ids = range(4000)
    return polars.DataFrame(
        {
            "patient_id": ids,
            "age": [20 + i % 60 for i in ids],
            "cost": [float(i * 7 % 1000) / 10 for i in ids],
            "town": [["York", 'it"s', "Bath"][i % 3] for i in ids],
            "day": [DAY + datetime.timedelta(days=i % 90) for i in ids],
        }
    )


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    people().write_parquet(tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


SAID = ["--unit", "patient_id", "--budget", "50", "--delta", "1e-5", "--one-row-per-unit"]


def test_a_profile_is_shown_and_kept(run: Any, visits: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"made.{kind}" for kind in ("html", "json", "toml")}
    ran = run("profile", visits, "--epsilon", "5", *SAID, "--html", files["html"], "--save", files["json"], "--toml", files["toml"])
    assert ran.code == 0, ran.err
    assert "profile of visits" in ran.out
    assert "cost ε = 5" in ran.out
    assert "<svg" in files["html"].read_text()
    assert isinstance(open_release(files["json"]), Profile)
    assert "# bought: ε = 5" in files["toml"].read_text()
    again = run("profile", visits, "--epsilon", "5", *SAID)
    assert "free now" in again.out


def test_nothing_is_paid_for_what_cannot_be_written(run: Any, visits: Path, tmp_path: Path) -> None:
    ran = run("profile", visits, "--epsilon", "5", *SAID, "--html", tmp_path / "none" / "made.html")
    assert ran.code == 2
    assert "Nothing was paid" in ran.err
    assert not visits.with_name("visits.parquet.ledger").exists()


def test_init_fills_in_what_was_bought(run: Any, visits: Path) -> None:
    ran = run("init", visits, "--epsilon", "0.9")
    assert ran.code == 0, ran.err
    text = visits.with_name("discreet.toml").read_text()
    assert text.count("# bought: ε = 0.9") >= 4
    with open_project(visits.parent) as db:
        declared, found = db._declared.table("visits"), db._pipeline.catalog.table("visits")
        assert declared is not None
        assert found is not None
        profile = found.profile
        assert profile is not None  # found again, though bounds are declared now
        for name in ("age", "cost", "day"):
            column, learnt = declared.column(name), profile.column(name)
            assert column is not None
            assert learnt is not None
            assert column.bounds == learnt.bounds is not None
        assert set(declared.column("town").keys or ()) == {"York", 'it"s', "Bath"}  # type: ignore[union-attr]
        assert db.spent.epsilon == Fraction("0.9")
        with pytest.raises(discreet.BudgetExceeded):
            db.sql("SELECT COUNT(*) FROM visits").release(0.5)


def test_init_says_what_to_decide_first(run: Any, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "visits.csv")
    (tmp_path / "towns.csv").write_text("town,beds\nYork,5\n")
    ran = run("init", tmp_path, "--epsilon", "0.9")
    assert ran.code == 0
    assert "nothing was bought" in ran.out
    assert "discreet profile" in ran.out
    assert not list(tmp_path.glob("*.ledger"))


def test_the_types_of_a_csv_file_are_bought_with_the_rest(run: Any, tmp_path: Path) -> None:
    people().with_columns(zip=polars.Series([f"{i % 500:05d}" for i in range(4000)])).write_csv(tmp_path / "visits.csv")
    assert run("init", tmp_path / "visits.csv", "--epsilon", "0.9").code == 0
    text = (tmp_path / "discreet.toml").read_text()
    assert 'type = "real"                # CHECK: bought: ε = 0.9' in text
    assert "of its values parse as dates" in text
    with open_project(tmp_path) as db:
        declared = db._declared.table("visits")
        assert declared is not None
        kinds = {column.name: column.kind.value for column in declared.columns}
        assert kinds == {"patient_id": "text", "age": "integer", "cost": "real", "town": "text", "day": "date", "zip": "text"}
        assert not declared.untyped
        bounds = declared.column("cost").bounds  # type: ignore[union-attr]
        assert bounds is not None
        assert bounds[0] <= 1
        assert bounds[1] >= 90
    ran = run("ask", tmp_path, "SELECT AVG(cost) AS m FROM visits", "--epsilon", "0.09")
    assert ran.code == 0, ran.err


def test_types_that_a_profile_found_are_used_by_the_next_command(run: Any, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "visits.csv")
    asked = ("ask", tmp_path / "visits.csv", "SELECT AVG(cost) AS m FROM visits WHERE day > DATE '2024-02-01'", "--epsilon", "5", *SAID)
    refused = run(*asked)
    assert refused.code != 0
    assert "or discreet profile" in refused.err
    ran = run("profile", tmp_path / "visits.csv", "--epsilon", "5", *SAID, "--toml", tmp_path / "made.toml")
    assert "of its values parse as numbers" in ran.out
    assert 'type = "date"' in (tmp_path / "made.toml").read_text()
    assert run(*asked).code == 0
