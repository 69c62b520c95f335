"""Conversations on a session: sources, prices, ceilings, and clear errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest
from session.synthesize import clinic

import discreet
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.ledger.standing import Amount
from discreet.loss.loss import compose

COLUMNS = ["dept", "age", "urgent"]
CONDITIONS: list[dict[str, Any]] = [
    {}, {"dept": "er"}, {"urgent": True}, {"age": (0, 19)}, {"age": (0, 19), "dept": "er"}, {"age": (0, 19), "dept": "er", "urgent": False}
]  # fmt: skip


def test_what_is_known_is_free() -> None:
    with clinic.session() as db:
        talk = db.interactive(COLUMNS, 20, 150, bins=6, questions=100)
        first = talk.ask({"dept": "er", "urgent": True})
        assert first.source == "paid"
        spent = talk.spent
        again = talk.ask({"urgent": True, "dept": ["er"]})
        assert (again.source, again.value) == ("cached", first.value)
        part = talk.ask({"dept": "er"})
        assert part.source in ("posterior", "paid")
        assert abs(part.value - talk.ask({"dept": "er", "urgent": [True, False, None]}).value) < 1e-6
        assert talk.spent >= spent


def test_answers_are_as_near_as_they_say() -> None:
    with clinic.session(contributions={"rows": 1000}, epsilon=10**6, delta=1e-3) as db:
        talk = db.interactive(COLUMNS, 10**5, 60, bins=6, questions=100)
        rows = clinic.visits()
        for dept in ("er", "it's", "ward"):
            exact = rows.filter((rows["dept"] == dept) & rows["urgent"]).height
            told = talk.ask({"dept": dept, "urgent": True})
            assert abs(told.value - exact) <= told.error <= 60
        mean = talk.ask({"dept": "er"}, mean="age")
        ages = rows.filter(rows["dept"] == "er")["age"].drop_nulls().clip(0, 119)
        assert abs(mean.value - ages.mean()) <= mean.error + 20  # bins are 20 years wide


def test_the_ledger_has_every_step_and_the_sum_is_within_the_price() -> None:
    with clinic.session() as db:
        talk = db.interactive(COLUMNS, 3, 250, bins=6, delta=1e-4, questions=100)
        for age in range(0, 120, 20):
            for dept in ("er", "it's", "ward", None):
                talk.ask({"age": (age, age + 19), "dept": dept})
        entries = [one for one in db.history() if one["asked"].startswith("interactive visits")]
        assert len(entries) == len(talk.losses)
        assert compose(loss for _, loss in talk.losses).epsilon_at(1e-4) <= 3


def test_when_the_price_is_used_up_the_model_answers_and_says_so() -> None:
    with clinic.session() as db:
        talk = db.interactive(COLUMNS, Fraction(1, 10), 500, bins=6, delta=1e-5, questions=100)
        told = [talk.ask(where) for where in CONDITIONS]
        assert told[0].source == "paid"
        assert told[-1].source == "hypothesis"
        assert told[-1].note
        assert talk.spent <= 0.1


def test_the_ledger_charges_no_more_than_the_price() -> None:
    """Steps that are charged one by one added up to nearly twice the price of a conversation."""
    with clinic.session(contributions={"rows": 1}) as db:
        talk = db.interactive(COLUMNS, Fraction(1, 2), 50, bins=6, delta=1e-5, questions=100)
        for where in CONDITIONS:
            talk.ask(where)
        own = [step.loss.basic[0] for step in talk.receipt.payments]
        assert sum(own) > talk.plan.epsilon, "the steps fit one by one, so this tests nothing"
        charged = [(one["epsilon"], one["delta"]) for one in db.history()]
        assert sum(epsilon for epsilon, _ in charged) == 0.5
        assert [delta for _, delta in charged] == [1e-5] + [0] * (len(charged) - 1)
        assert db.spent == Amount(Fraction(1, 2), Fraction(1, 10**5))
        talk.verify(db._ledger)


def test_a_price_that_pays_for_no_count_is_refused() -> None:
    with clinic.session(contributions={"rows": 1}) as db:
        request = db.interactive(COLUMNS, accuracy=20, questions=100)
        with pytest.raises(Refused, match=r"does not pay for a single count within 20 records: ask for accuracy=\d+ or") as told:
            request.plan(0.1)
        enough = int(str(told.value).split("accuracy=")[1].split(" ")[0])
        talk = db.interactive(COLUMNS, 0.1, enough, questions=100)
        assert talk.ask({"dept": "er"}).source == "paid"
        assert "pays for about 1 separate count," in talk.plan.explain()
        assert "depends on the number of records" in db.interactive(COLUMNS, accuracy=0.1).plan(0.1).explain()


def test_bad_orders() -> None:
    with clinic.session() as db:
        with pytest.raises(Invalid, match="no column"):
            db.interactive(["ward"], 1, 100)
        with pytest.raises(Invalid, match="no such value"):
            db.interactive(["dept"], 1, 100).ask({"dept": "attic"})
        with pytest.raises(Invalid, match="no column"):
            db.interactive(["dept"], 1, 100).ask({"age": 3})
        with pytest.raises(Invalid, match="needs a numeric column"):
            db.interactive(["dept"], 1, 100).ask({}, mean="dept")
        with pytest.raises(Invalid):
            db.interactive(["dept"], 1, 0)
    with clinic.session(keys=None) as db, pytest.raises(Refused, match="declare keys or bounds of dept"):
        db.interactive(["dept"], 1, 100)
    with clinic.session(contributions=None) as db, pytest.raises(Refused, match="contributions"):
        db.interactive(["dept"], 1, 100)


def test_a_share_needs_a_budget_for_the_number_of_records() -> None:
    with clinic.session(epsilon="1e-9", delta="1e-9") as db, pytest.raises(BudgetExceeded):
        db.interactive(["dept"], 1, 0.1)
    with clinic.session() as db:
        talk = db.interactive(["dept"], 20, 0.1, questions=100)
        assert 100 < talk.accuracy < 400


def test_steps_that_fit_one_by_one_do_not_all_fit() -> None:
    """The conversation's own price is a ceiling for all of its steps together, whatever the ledger would still admit."""
    with clinic.session(epsilon=10**6) as db:
        talk = db.interactive(["dept", "age", "urgent"], 1, 200, bins=30, delta=1e-6, questions=1000)
        for age in range(0, 116, 4):
            for dept in ("er", "it's", "ward"):
                for urgent in (True, False):
                    told = talk.ask({"age": (age, age + 3), "dept": dept, "urgent": urgent})
                    talk.ask({"age": (age, age + 3)}, mean="age")
                talk.ask({"dept": dept, "age": (0, age + 3)})
        assert len(talk.losses) > 1
        assert talk.spent <= 1
        assert told.note or talk.ask({"age": (0, 59)}).note or talk.ask({"urgent": True, "age": (0, 59)}).note


def test_a_conversation_copied_into_another_process_is_refused() -> None:
    """Both would pay once under one key, and draw twice."""
    with clinic.session() as db:
        here, there = (db.interactive(COLUMNS, 20, 150, bins=6, questions=100) for _ in range(2))
        there._steps.priced = here._steps.priced  # as a fork would leave it
        here.ask({"dept": "er"})
        with pytest.raises(Invalid, match="another process"):
            there.ask({"dept": "er"})


@pytest.mark.slow
def test_ten_thousand_conjunctions_in_one_conversation() -> None:
    """On a session, where sums of exact prices once grew too long to be written down after 530 questions."""
    coins, count = np.random.default_rng(1), 20_000
    lean = coins.random(count)
    columns = {f"c{i}": (coins.random(count) < 0.2 + 0.5 * lean).astype(int) for i in range(16)}
    people = polars.DataFrame({"id": range(count)} | columns)
    keys = {name: [0, 1] for name in columns}
    with discreet.connect({"people": people}, unit="id", epsilon=4, delta=1e-6, ledger=":memory:", one_row_per_unit=True, keys=keys) as db:
        talk = db.interactive([*columns], epsilon=2, accuracy=200)
        for _ in range(10_000):
            chosen = coins.choice(16, coins.integers(1, 5), replace=False)
            talk.ask({f"c{i}": int(coins.integers(2)) for i in chosen})
        assert len(db._ledger._history.standing.text) < 1000
        assert db.spent.epsilon <= 2
        db.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
