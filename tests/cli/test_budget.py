"""`discreet budget`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

SQL = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"


def test_a_budget_before_the_first_question(run: Any, project: Path) -> None:
    ran = run("budget", project)
    assert ran.code == 0
    assert "charged    ε = 0, δ = 0  ░░░" in ran.out
    assert json.loads(run("budget", project.parent, "--json").out)["history"] == []


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


def test_what_was_received_is_listed_with_who_received_it(run: Any, tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    ledger = open_ledger(place, Terms(2, 0, "id"))
    for name in ("ada", "bo"):
        ledger.grant(name, 1)
    ledger.store(ledger.spend(Pure("1/4"), question="q", note="SELECT 1", analyst="ada"), {})
    ledger.receive("q", "bo", note="SELECT 1")
    ledger.close()
    assert "(received by bo) SELECT 1" in run("budget", place).out
    told = json.loads(run("budget", place, "--json").out)
    assert [(row["analyst"], row["epsilon"], row["received"]) for row in told["history"]] == [("ada", "1/4", False), ("bo", "1/4", True)]
    assert (told["spent"]["epsilon"], told["analysts"]["bo"]["spent"]["epsilon"]) == ("1/4", "1/4")
    assert "analysts were charged for 1 answers that somebody else had paid for" in run("verify", place).out
