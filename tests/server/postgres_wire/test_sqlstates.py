"""Errors with codes that drivers know, a hint that says what to do, and the place in the text."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, PolicyError, Refused, WrongType
from discreet.server.access import TooManyRequests
from discreet.server.postgres_wire.sqlstates import Failure, OutcomeFailure, fields_of, state_of


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Refused("x"), "0A000"),
        (WrongType("x"), "42804"),
        (Invalid("x"), "22023"),
        (PolicyError("x"), "22023"),
        (BudgetExceeded("x"), "53400"),
        (TooManyRequests(3), "53400"),
        (LedgerError("x"), "58030"),
        (EngineError("x"), "58000"),
        (Error("x"), "XX000"),
        (Failure("26000", "x"), "26000"),
        (OutcomeFailure({"error": "BudgetExceeded", "message": "x"}), "53400"),
        (OutcomeFailure({"error": "SomethingElse", "message": "x"}), "XX000"),
    ],
)
def test_codes(error: Failure | OutcomeFailure | Error, state: str) -> None:
    assert fields_of(error)["C"] == state


def test_what_to_do_is_a_hint() -> None:
    found = fields_of(Refused("x (line 1, column 8): single rows are never shown; ask for a statistic"), "SELECT x FROM t")
    assert found["M"] == "x (line 1, column 8): single rows are never shown"
    assert found["H"] == "ask for a statistic"
    assert found["P"] == "8"
    assert "H" not in fields_of(Refused("no"))


def test_the_place_counts_lines() -> None:
    assert fields_of(Refused("line 2, column 3: no"), "ab\ncdef")["P"] == "6"
    assert "P" not in fields_of(Refused("line 9, column 3: no"), "ab\ncdef")
    assert "P" not in fields_of(Refused("line 1, column 99: no"), "ab")


def test_notes_and_severity() -> None:
    error = Refused("no")
    error.add_note("because")
    assert fields_of(error)["D"] == "because"
    assert fields_of(OutcomeFailure({"error": "Refused", "message": "no", "notes": ["a", "b"]}))["D"] == "a\nb"
    assert fields_of(Failure("28P01", "no", fatal=True))["S"] == "FATAL"
    assert fields_of(error)["S"] == "ERROR"


def test_every_error_has_a_code() -> None:
    assert all(len(state_of(kind.__name__)) == 5 for kind in Error.__subclasses__())
