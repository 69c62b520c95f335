"""A hostile agent learns what its own budget pays for, and nothing that it does reaches others."""

from __future__ import annotations

import runpy
from contextlib import closing
from pathlib import Path

import pytest
from agents.hostile import GRANTED, attack, serve
from agents.hostile_inputs import ATTEMPTS
from agents.tracing import LEVEL, accused
from scipy import stats

from discreet.attacks.membership import membership_bound
from discreet.ledger.ledger import open_ledger

ROOT = Path(__file__).parents[2]


def test_a_hostile_agent(tmp_path: Path) -> None:
    served = serve(tmp_path)
    report, ann = attack(served, ATTEMPTS)
    assert len(report) >= 60
    page = (ROOT / "docs" / "serving" / "agents.md").read_text(encoding="utf-8")
    assert runpy.run_path(str(ROOT / "docs" / "write_agents.py"))["as_table"](report) in page, "run: python docs/write_agents.py"
    assert ann["before"] == ann["after"]  # her answers, budget, history and what is described
    with closing(open_ledger(str(tmp_path / "clinic" / "discreet.ledger"))) as ledger:
        ledger.verify()
        spent = {name: one.spent.epsilon for name, one in ledger.analysts().items()}
    assert spent["mallory"] is not None
    assert spent["mallory"] <= GRANTED
    assert float(spent["ann"] or 0) == 0.04
    assert spent["bob"] == 0


@pytest.mark.filterwarnings("ignore:the ledger is in memory")
@pytest.mark.parametrize("trials", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_what_it_learnt_about_one_person_stays_within_its_budget(trials: int) -> None:
    """It asks the same sums in other words until ε = 1 is spent, averages, and accuses: no more often than the theorem admits."""
    found = [accused(seed, GRANTED) for seed in range(trials)]
    assert all(spent <= GRANTED for _, spent in found)
    assert sum(hit for hit, _ in found) <= stats.binom.ppf(1 - 1e-7, trials, membership_bound(LEVEL, epsilon=GRANTED)) < trials


@pytest.mark.filterwarnings("ignore:the ledger is in memory")
def test_the_attack_works_where_the_budget_is_large() -> None:
    assert all(accused(seed, 10_000)[0] for seed in range(2))
