"""`discreet ask` and `explain`: options, machine output, exit codes, and one clear message for each error."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"
SAID = ("--unit", "patient_id", "--bounds", "cost=0:500", "--keys", "dept=er,ward,lab", "--contributions", "rows=3")


def test_a_file_with_everything_said(run: Any, data: Path) -> None:
    ran = run("ask", data, SQL, "--epsilon", "0.5", "--budget", "2", "--delta", "1e-6", *SAID)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["er", "ward", "lab"]
    assert "cost ε = 0.5 (ledger entry 1)" in lines
    assert lines[-1].startswith("remaining: ε = 1.5, δ = ")
    assert (data.parent / "visits.parquet.ledger").exists()


def test_the_budget_is_said_once_and_repeats_are_free(run: Any, data: Path) -> None:
    run("ask", data, SQL, "--epsilon", "0.5", "--budget", "2", "--delta", "1e-6", *SAID)
    again = run("ask", data, SQL, "--epsilon", "0.5", *SAID)
    assert again.code == 0
    assert "answered before, so free now" in again.out
    assert "remaining: ε = 1.5" in again.out
    other = run("ask", data, SQL, "--epsilon", "0.5", "--budget", "3", "--delta", "1e-6", *SAID)
    assert other.code == 2
    assert "opened with epsilon = 2, not 3" in other.err


def test_json_and_csv_are_all_of_stdout(run: Any, project: Path) -> None:
    told = json.loads(run("ask", project, SQL, "--epsilon", "0.5", "--json").out)
    assert [row["dept"] for row in told["rows"]] == ["er", "ward", "lab"]
    assert told["intervals"][0]["visits"][0] < told["rows"][0]["visits"] < told["intervals"][0]["visits"][1]
    assert (told["repeated"], told["receipt"]["epsilon"]) == (False, "1/2")
    rows = list(csv.DictReader(io.StringIO(run("ask", project, SQL, "--epsilon", "0.5", "--csv").out)))
    assert [float(row["visits"]) for row in rows] == [row["visits"] for row in told["rows"]]
    assert run("ask", project, SQL, "--epsilon", "0.5", "--csv", "--json").code == 2


def test_a_project_needs_no_options_and_takes_none(run: Any, project: Path) -> None:
    assert run("ask", project.parent, SQL, "--epsilon", "0.5").code == 0
    assert (project.parent / "discreet.ledger").exists()
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--unit", "patient_id", "--budget", "3")
    assert ran.code == 2
    assert "--unit, --budget: with a discreet.toml this is said there" in ran.err


def test_a_wished_error_is_bought(run: Any, project: Path) -> None:
    ran = run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--error", "n=50", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    low, high = told["intervals"][0]["n"]
    assert (high - low) / 2 == pytest.approx(50, rel=0.02)
    assert run("ask", project, SQL, "--error", "visits=50", "--epsilon", "1").code == 2
    assert run("ask", project, SQL, "--error", "visits=x").code == 2
    assert "give --size 1000" in run("ask", project, SQL, "--error", "mean_cost=5").err


def test_plot_and_receipt_files(run: Any, project: Path, tmp_path: Path) -> None:
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--plot", tmp_path / "a.png", "--save", tmp_path / "a.json")
    assert ran.code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "a.json").read_text())["receipt"]


@pytest.mark.parametrize(
    ("sql", "epsilon", "code", "said"),
    [
        ("SELECT dept FROM visits", "0.1", 3, "refused: "),
        ("SELECT * FROM read_csv('/etc/passwd')", "0.1", 3, "refused: "),
        (SQL, "5", 4, "budget exceeded: the budget does not admit this"),
        (SQL, "abc", 2, "invalid: epsilon"),
        (SQL, "-1", 2, "invalid: epsilon"),
    ],
)
def test_each_error_has_its_code_and_one_message(run: Any, project: Path, sql: str, epsilon: str, code: int, said: str) -> None:
    ran = run("ask", project, sql, "--epsilon", epsilon)
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith(said)
    assert len(ran.err.splitlines()) == 1


def test_other_codes(run: Any, data: Path, project: Path) -> None:
    assert run("ask", "nope.parquet", SQL, "--unit", "x", "--epsilon", "1", "--budget", "1").code == 2
    (data.parent / "broken.parquet").write_bytes(b"PAR1")
    assert run("ask", data.parent / "broken.parquet", SQL, "--unit", "x", "--epsilon", "1", "--budget", "1").code == 6
    assert run("ask", data, SQL, "--epsilon", "1", "--budget", "1").code == 2
    assert "--budget 1.0" in run("ask", data, SQL, "--epsilon", "1", "--unit", "patient_id").err
    assert run("ask").code == 2
    assert run("nope").code == 2
    ran = run("ask", project, SQL)
    assert ran.code == 2
    assert "--epsilon 0.1" in ran.err
    assert "epsilon=" not in ran.err
    (project.parent / "discreet.ledger").write_bytes(b"SQLite format 3\x00" + b"x" * 500)
    assert run("ask", project, SQL, "--epsilon", "0.1").code == 5


def test_what_is_unexpected_shows_nothing_that_could_be_data(run: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("patient 4711 has the plague")

    monkeypatch.setattr("discreet.session.session.execute", broken)
    ran = run("ask", project, SQL, "--epsilon", "0.1")
    assert ran.code == 1
    assert "4711" not in ran.out + ran.err
    assert "RuntimeError" in ran.err


@pytest.mark.parametrize(
    "words", [["--bounds", "cost"], ["--bounds", "cost=1:2:3"], ["--contributions", "rows=x"], ["--contributions", "3"]]
)
def test_slips_in_options_are_explained(run: Any, data: Path, words: list[str]) -> None:
    ran = run("ask", data, SQL, "--epsilon", "0.1", "--budget", "1", "--unit", "patient_id", *words)
    assert ran.code == 2
    assert "write" in ran.err


def test_explain_spends_nothing(run: Any, project: Path, tmp_path: Path) -> None:
    ran = run("explain", project, SQL, "--epsilon", "0.5")
    assert ran.code == 0
    assert ran.out.startswith("Who is protected\n")
    assert json.loads(run("explain", project, SQL, "--epsilon", "0.5", "--json").out)["scans"] == 2
    assert run("explain", project, SQL, "--epsilon", "0.5", "--html", tmp_path / "a.html").out == ""
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads(run("budget", project, "--json").out)["spent"]["epsilon"] == "0"


def test_each_row_and_types(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2.5\n" * 100)
    ran = run(
        "ask", tmp_path / "a.csv", "SELECT SUM(x) AS s FROM a", "--each-row", "--budget", "9", "--epsilon", "9",
        "--type", "x=integer", "--bounds", "x=0:1", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"][0]["s"] == pytest.approx(100, abs=10)  # ε = 9: beyond 10 once in e^90


def test_version_and_help(run: Any) -> None:
    assert run("--version").out.startswith("discreet ")
    shown = run("--help").out
    assert all(word in shown for word in ("ask", "explain", "budget", "init", "verify", "demo", "Exit codes"))
    assert "--contributions" in run("ask", "--help").out


@pytest.mark.parametrize("words", [["--save", "no/a.json"], ["--plot", "no/a.png"], ["--plot", "a.exe"], ["--save", "."]])
def test_a_file_that_cannot_be_written_is_seen_before_paying(run: Any, project: Path, words: list[str]) -> None:
    ran = run("ask", project, SQL, "--epsilon", "0.5", words[0], project.parent / words[1])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"invalid: {words[0]}: ")
    assert not (project.parent / "discreet.ledger").exists()


def test_the_answer_is_printed_before_a_file_fails(run: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.cli.ask.require_writable", lambda *_: None)  # the folder is lost in between
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--save", project.parent / "no" / "a.json")
    assert ran.code == 2
    assert "cost ε = 0.5" in ran.out
    assert "cannot be written" in ran.err


def test_a_page_in_a_missing_folder(run: Any, project: Path) -> None:
    ran = run("explain", project, SQL, "--epsilon", "0.5", "--html", project.parent / "no" / "a.html")
    assert ran.code == 2
    assert "there is no folder" in ran.err


def test_what_is_no_data_is_said(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("ask", "explain"):
        ran = run(command, "other.parquet", SQL, "--unit", "x", "--epsilon", "1")
        assert ran.code == 2
        assert "there is no file other.parquet" in ran.err
    for words in ([], ["--unit", "x"]):
        ran = run("ask", ".", SQL, "--epsilon", "1", *words)
        assert ran.code == 2
        assert "there is no discreet.toml in the folder .: write one with `discreet init" in ran.err
    (tmp_path / "a.parquet").touch()
    assert "there is no discreet.toml in the folder" in run("ask", ".", SQL, "--epsilon", "1").err


def test_a_folder_has_one_ledger_however_it_is_written(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data.parent / "visits"
    folder.mkdir()
    data.rename(folder / "a.parquet")
    monkeypatch.chdir(data.parent)
    assert run("ask", "visits/", SQL, "--epsilon", "0.5", "--budget", "2", *SAID).code == 0
    assert "answered before" in run("ask", "visits", SQL, "--epsilon", "0.5", *SAID).out
    assert (data.parent / "visits.ledger").exists()
    assert "ε = 1.5" in run("budget", "visits/").out
