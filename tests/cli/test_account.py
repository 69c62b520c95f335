"""`discreet budget` and `verify`."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import polars
import pytest

from discreet.cli.screen import gauge

SQL = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"


@pytest.fixture
def asked(run: Any, project: Path) -> Path:
    assert run("ask", project, SQL, "--epsilon", "0.5", "--save", project.parent / "a.json").code == 0
    return project


def test_budget_by_project_ledger_and_data(run: Any, asked: Path, data: Path) -> None:
    for place in (asked, asked.parent, asked.parent / "discreet.ledger"):
        ran = run("budget", place)
        assert ran.code == 0
        assert "protects each patient_id (add/remove)" in ran.out
        assert "charged    ε = 0.5, δ = 0" in ran.out
        assert "ε = 1.5" in ran.out
        assert SQL in ran.out
    told = json.loads(run("budget", asked, "--json").out)
    assert told["remaining"]["epsilon"] == "3/2"
    assert [(row["entry"], row["epsilon"], row["asked"], row["answered"]) for row in told["history"]] == [(1, "1/2", SQL, True)]
    ran = run("budget", data)
    assert ran.code == 2
    assert "ask a first question with --unit and --budget" in ran.err


def test_a_question_cannot_steer_the_terminal(run: Any, asked: Path) -> None:
    run("ask", asked, "SELECT COUNT(*) AS n FROM visits -- \x1b[2J [red]", "--epsilon", "0.1")
    shown = run("budget", asked).out
    assert "\x1b" not in shown
    assert "[red]" in shown  # what looks like markup is shown as it was typed


def test_verify_a_receipt_alone_and_against_its_ledger(run: Any, asked: Path) -> None:
    receipt = asked.parent / "a.json"
    alone = run("verify", receipt)
    assert alone.code == 0
    assert "the answers are NOT checked against a ledger" in alone.out
    assert "give --ledger to check that too" in alone.out
    both = run("verify", receipt, "--ledger", asked)
    assert both.code == 0
    assert "paid in ledger entry 1, and these are the very answers that the ledger holds" in both.out
    (asked.parent / "b.json").write_text(json.dumps(json.loads(receipt.read_text())["receipt"]))
    ran = run("verify", asked.parent / "b.json", "--ledger", asked)
    assert ran.code == 0
    assert "no answers in this file" in ran.out
    (asked.parent / "c.json").write_text(run("ask", asked, SQL, "--epsilon", "0.5", "--json").out)
    ran = run("verify", asked.parent / "c.json", "--ledger", asked)
    assert ran.code == 0
    assert "the very answers" in ran.out


def test_verify_sees_changes(run: Any, asked: Path) -> None:
    receipt = asked.parent / "a.json"
    text = receipt.read_text()
    receipt.write_text(text.replace('"epsilon":"1/2"', '"epsilon":"1/4"'))
    assert run("verify", receipt).code == 2
    receipt.write_text(text.replace('"ward"', '"hall"', 1))
    assert run("verify", receipt, "--ledger", asked).code == 5
    receipt.write_text("[]")
    assert run("verify", receipt).code == 2
    receipt.write_text("\x00")
    assert run("verify", receipt).code == 2
    assert run("verify", asked.parent / "none").code == 2


def test_verify_a_ledger(run: Any, asked: Path) -> None:
    ran = run("verify", asked.parent / "discreet.ledger")
    assert ran.code == 0
    assert "3 entries, 1 spends, 1 releases" in ran.out
    assert "no witness" in ran.out


def test_the_gauge_empties() -> None:
    assert str(gauge(0, 1, 10)) == "█" * 10
    assert str(gauge(1, 1, 10)) == "░" * 10
    assert str(gauge(0.5, 1, 10)) == "█████░░░░░"
    assert len(str(gauge(0.123, 1, 10))) == 10
    assert str(gauge(5, 1, 4)) == "░" * 4


def test_verify_sees_every_change_of_what_json_printed(run: Any, asked: Path) -> None:
    place = asked.parent / "c.json"
    told = json.loads(run("ask", asked, SQL, "--epsilon", "0.5", "--json").out)
    row, ends = told["rows"][0], told["intervals"][0]
    for changed, code in (
        (told, 0),
        (told | {"repeated": False}, 0),
        (told | {"rows": [row | {"visits": row["visits"] + 1}, *told["rows"][1:]]}, 5),
        (told | {"rows": told["rows"][1:]}, 5),
        (told | {"intervals": [{"visits": [ends["visits"][0] + 1, ends["visits"][1]]}, *told["intervals"][1:]]}, 5),
        (told | {"confidence": 0.99}, 5),
        (told | {"mean": 3}, 2),
        (told | {"receipt": [1]}, 2),
    ):
        place.write_text(json.dumps(changed))
        assert run("verify", place, "--ledger", asked).code == code
    (asked.parent / "a.json").write_text(json.dumps(json.loads((asked.parent / "a.json").read_text()) | {"rows": []}))
    assert run("verify", asked.parent / "a.json", "--ledger", asked).code == 2  # beside the true answers, others that nobody checks


def test_verify_dates_that_json_printed(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "d.parquet"
    polars.DataFrame({"day": [datetime.date(2024, 1, 1)] * 50, "id": range(50)}).write_parquet(data)
    said = ("--budget", "1", "--epsilon", "1", "--unit", "id", "--keys", "day=2024-01-01,2024-01-02")
    ran = run("ask", data, "SELECT day, COUNT(*) AS n FROM d GROUP BY day", *said, "--json")
    assert ran.code == 0, ran.err
    (tmp_path / "c.json").write_text(ran.out)
    assert run("verify", tmp_path / "c.json", "--ledger", data).code == 0
