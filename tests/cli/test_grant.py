"""`discreet grant`; more of it in tests/ledger/test_shares.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_grant_before_the_first_question(run: Any, project: Path) -> None:
    assert "ana may spend ε = 0.5" in run("grant", project, "ana", "--epsilon", "0.5").out
    assert run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--analyst", "ana").code == 0
