"""A hostile agent learns what its own budget pays for, and nothing that it does reaches others."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from agents.hostile import GRANTED, attack, serve

from discreet.ledger.ledger import open_ledger


def test_a_hostile_agent(tmp_path: Path) -> None:
    served = serve(tmp_path)
    report, ann = attack(served)
    assert len(report) >= 60
    assert ann["before"] == ann["after"]  # her answers, budget, history and what is described
    with closing(open_ledger(str(tmp_path / "clinic" / "discreet.ledger"))) as ledger:
        ledger.verify()
        spent = {name: one.spent.epsilon for name, one in ledger.analysts().items()}
    assert spent["mallory"] is not None
    assert spent["mallory"] <= GRANTED
    assert float(spent["ann"] or 0) == 0.04
    assert spent["bob"] == 0
