"""What is told about tables is declared, examples can be asked, and names are quoted."""

from __future__ import annotations

import json
from pathlib import Path

from server.clinic import write_clinic

from discreet.session.about import about, budget_of, examples, quoted
from discreet.session.project import open_project


def test_examples_can_be_asked(tmp_path: Path) -> None:
    with open_project(write_clinic(tmp_path)) as db:
        found = examples(db.catalog)
        assert len(found) == 3
        for text in found:
            db.sql(text).plan(epsilon=0.1)


def test_tables_and_budgets_are_plain_values(tmp_path: Path) -> None:
    with open_project(write_clinic(tmp_path)) as db:
        told = about("clinic", db.catalog)
        json.dumps(told)
        assert [column["name"] for column in told["tables"][0]["columns"]] == ["person", "cost", "dept"]
        assert budget_of(db.ledger.allowance())["granted"]["epsilon"] == "10"


def test_names_are_quoted() -> None:
    assert quoted("cost") == "cost"
    assert quoted('a"; DROP TABLE x; --') == '"a""; DROP TABLE x; --"'
    assert quoted("Cost") == '"Cost"'
