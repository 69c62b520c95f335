"""Plans as plain values: complete, and JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from session.clinic import clinic

from discreet.errors import Invalid
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.server.api.plans import plan_of

PLANS = {
    "question": lambda db: db.sql("SELECT COUNT(*) AS n FROM visits").plan(0.5),
    "synthesis": lambda db: db.synthesize("visits", columns=["year"]).plan(1),
    "profile": lambda db: db.profile().plan(1),
    "estimate": lambda db: db.estimate(db.table("visits").per_unit(c="SUM(cost)"), "median", "c", bounds=(0, 1500)).plan(1),
    "stream": lambda db: db.watch(threshold=5).plan(1),
    "conversation": lambda db: db.interactive(["dept"], accuracy=100).plan(1),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_is_json(name: str) -> None:
    with clinic() as db:
        plan: Any = PLANS[name](db)
        said = json.loads(json.dumps(plan_of(plan), allow_nan=False))
        assert (Fraction(said["epsilon"]), said["title"], said["priced"]["kind"]) == (plan.epsilon, plan.title, plan.priced.kind)
        loss = Charge.from_json(said["loss"]["charge"]) if "charge" in said["loss"] else record.from_json(said["loss"])
        assert loss.epsilon_at(float(plan.delta)) <= float(plan.epsilon) * 1.000001
        with pytest.raises(Invalid, match="does not take"):
            plan_of(plan, {"nope": 1})


def test_the_chance_of_a_group() -> None:
    with clinic() as db:
        plan = db.sql("SELECT year, COUNT(*) AS n FROM visits GROUP BY year").plan(0.5)
        assert plan_of(plan, {"size": 10}, 1000)["shown"] == plan.shown(1000)
        with pytest.raises(Invalid, match="only questions"):
            plan_of(db.watch(threshold=5).plan(1), None, 5)
