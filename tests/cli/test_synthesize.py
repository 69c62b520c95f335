"""`discreet synthesize`: rows in a file, the same again for nothing, and nothing paid for what cannot be written."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from session.synthesize import clinic
from typer.testing import CliRunner

from discreet.cli.app import app

SAID = [
    "--unit",
    "patient",
    "--budget",
    "50",
    "--delta",
    "1e-3",
    "--bounds",
    "age=0:119",
    "--keys",
    "dept=er,ward",
    "--contributions",
    "rows=4",
]


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    clinic.visits().select("patient", "dept", "age", "urgent").write_parquet(path)
    return path


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.exit_code, found.output + str(found.exception or "")


def test_rows_go_into_a_file_and_again_for_nothing(visits: Path, tmp_path: Path) -> None:
    order = ["synthesize", visits, "visits", "--epsilon", 5, *SAID, "--bins", 8]
    kept = ["--plot", tmp_path / "plot.png", "--save", tmp_path / "made.json", "--report", tmp_path / "report.html"]
    code, said = run(*order, "--output", tmp_path / "rows.parquet", *kept)
    assert code == 0, said
    assert "Synthetic(visits" in said
    for text in (said, (tmp_path / "report.html").read_text(encoding="utf-8")):
        assert "3 of 3 columns were measured" in " ".join(text.split())
    frame = polars.read_parquet(tmp_path / "rows.parquet")
    assert frame.columns == ["dept", "age", "urgent"]
    assert (tmp_path / "plot.png").exists()
    assert (tmp_path / "made.json").exists()
    code, said = run(*order, "--output", tmp_path / "rows.csv")
    assert code == 0
    assert "made before, so free now" in said
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == len(frame) + 1
    code, said = run(*order, "--rows", 7, "--output", tmp_path / "few.csv")
    assert code == 0
    assert "made before, so free now" in said
    assert len((tmp_path / "few.csv").read_text().splitlines()) == 8


def test_nothing_is_paid_for_what_cannot_be_written(visits: Path, tmp_path: Path) -> None:
    code, said = run("synthesize", visits, "visits", "--epsilon", 5, *SAID, "--output", tmp_path / "rows.xlsx")
    assert code != 0
    assert "Nothing was paid" in said
    code, said = run("synthesize", visits, "visits", "--epsilon", 5, *SAID, "--output", tmp_path / "nowhere" / "rows.csv")
    assert code != 0
    for report in ("rows.txt", "nowhere/rows.html"):
        code, said = run(
            "synthesize", visits, "visits", "--epsilon", 5, *SAID, "--output", tmp_path / "rows.csv", "--report", tmp_path / report
        )
        assert code != 0
        assert "--report" in said
    assert not (tmp_path / "visits.parquet.ledger").exists()
