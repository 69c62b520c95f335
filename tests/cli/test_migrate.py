"""`discreet migrate`; migration itself is tested in tests/ledger/test_migrate.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_ledger_of_this_format_is_left_alone(run: Any, asked: Path) -> None:
    ledger = asked.parent / "discreet.ledger"
    before = ledger.read_bytes()
    ran = run("migrate", ledger)
    assert (ran.code, ran.out) == (5, "")
    assert "was not changed" in ran.err
    assert ledger.read_bytes() == before


def test_no_ledger(run: Any, tmp_path: Path) -> None:
    ran = run("migrate", tmp_path / "none.ledger")
    assert (ran.code, ran.out) == (5, "")
    assert "check the path" in ran.err
