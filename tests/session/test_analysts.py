"""Several analysts: each pays from her own part, and all together from the data set's budget."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars
import pytest

import discreet
from discreet import BudgetExceeded, Invalid

POLICY = """
[budget]
epsilon = 1.0
delta = 1e-6

[budget.analysts]
ana = {{ epsilon = 0.5, delta = 5e-7 }}
bo = {{ epsilon = 0.8 }}

[ledger]
path = "{ledger}"

[tables.visits]
source = "visits.parquet"
unit = "person"
contributions = {{ rows = 2 }}
columns.dept.keys = ["er", "ward"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    polars.DataFrame({"person": [1, 2, 3, 3], "dept": ["er", "er", "ward", "er"]}).write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "discreet.toml").write_text(POLICY.format(ledger="clinic.ledger"))
    return tmp_path


def asked(number: int) -> str:
    return f"SELECT dept, COUNT(*) AS n{number} FROM visits GROUP BY dept"


def test_each_has_her_own_and_all_have_the_ceiling(project: Path) -> None:
    with discreet.connect(project, analyst="ana") as ana, discreet.connect(project, analyst="bo") as bo:
        assert (ana.remaining.epsilon, bo.remaining.epsilon) == (Fraction(1, 2), Fraction(4, 5))
        first = ana.sql(asked(1)).release(epsilon=0.4, delta=0)
        with pytest.raises(BudgetExceeded, match="ana"):
            ana.sql(asked(2)).release(epsilon=0.2, delta=0)
        assert bo.sql(asked(1)).release(epsilon=0.4, delta=0).to_text() == first.to_text()  # a stored answer is everybody's
        bo.sql(asked(3)).release(epsilon=0.5, delta=0)
        assert (ana.remaining.epsilon, bo.remaining.epsilon) == (Fraction(1, 10), Fraction(1, 10))  # the data set's
        with pytest.raises(BudgetExceeded, match="data set"):
            bo.sql(asked(4)).release(epsilon=0.2, delta=0)
        assert [(row["epsilon"], row["analyst"]) for row in ana.history()] == [(0.4, "ana"), (0.5, "bo")]


def test_whoever_asks_says_who_it_is(project: Path) -> None:
    with pytest.raises(BudgetExceeded, match="eve has no budget here"):
        discreet.connect(project, analyst="eve")
    with discreet.connect(project) as db, pytest.raises(Invalid, match="name the analyst who asks"):
        db.sql(asked(1)).release(epsilon=0.1, delta=0)
    with discreet.connect(project, analyst="owner") as db:
        db.sql(asked(1)).release(epsilon=0.9, delta=0)
        assert db.remaining.epsilon == Fraction(1, 10)


def test_a_shared_ledger_of_two_sessions(project: Path, postgres: str) -> None:
    address = f"{postgres}{'&' if '?' in postgres else '?'}ledger=two_sessions"
    (project / "discreet.toml").write_text(POLICY.format(ledger=address))
    with discreet.connect(project, analyst="ana") as ana, discreet.connect(project, analyst="bo") as bo:
        release = ana.sql(asked(1)).release(epsilon=0.4, delta=0)
        assert bo.sql(asked(1)).release(epsilon=0.4, delta=0).repeated
        assert bo.sql(asked(2)).release(epsilon=0.5, delta=0).receipt.sequence > release.receipt.sequence
        with pytest.raises(BudgetExceeded):
            bo.sql(asked(3)).release(epsilon=0.2, delta=0)
        shown = repr(ana) + repr(release) + str(release.receipt) + str(ana.history()) + str(ana.sql(asked(5)).plan(0.1).explain())
    password = address.split(":")[2].split("@")[0]
    assert len(password) > 5
    assert password not in shown
    assert "127.0.0.1" not in shown


def test_her_own_delta_counts(project: Path) -> None:
    """bo was granted no δ: his question is planned without one, and all that remains of his share can be asked for."""
    with discreet.connect(project, analyst="bo") as bo:
        assert bo.remaining.delta == 0
        assert bo.sql(asked(1)).plan(0.1).delta == 0
        bo.sql(asked(1)).release(epsilon=bo.remaining.epsilon)
        assert bo.remaining.epsilon == 0
    with discreet.connect(project, analyst="owner") as owner:
        assert owner.remaining.epsilon == Fraction(1, 5)


def test_a_limit_below_what_was_spent_admits_nothing_more(project: Path) -> None:
    with discreet.connect(project, analyst="ana") as ana:
        ana.sql(asked(1)).release(epsilon=0.4, delta=0)
    text = (project / "discreet.toml").read_text()
    (project / "discreet.toml").write_text(text.replace("epsilon = 0.5", "epsilon = 0.1"))
    with discreet.connect(project, analyst="ana") as ana, pytest.raises(BudgetExceeded):
        ana.sql(asked(2)).release(epsilon=0.01, delta=0)
    with discreet.connect(project, analyst="owner") as owner:
        assert owner.remaining.epsilon == Fraction(6, 10)
