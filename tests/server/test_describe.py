"""What is described is declared or one's own."""

from __future__ import annotations

import json

from server.clinic import Served

from discreet.server.describe import budget, describe


def test_a_data_set_as_an_account_sees_it(served: Served) -> None:
    data = next(iter(served.server.datasets))
    ann, eve = served.server.accounts.get("ann"), served.server.accounts.get("eve")
    assert ann is not None
    assert eve is not None
    found = describe(data, ann)
    json.dumps(found)
    assert found["protects"] == "each person"
    assert found["budget"]["granted"]["epsilon"] == "3"
    columns = {column["name"]: column for column in found["tables"][0]["columns"]}
    assert columns["cost"]["bounds"] == ["0", "500"]
    assert columns["dept"]["keys"] == ["eyes", "heart", "skin"]
    assert "budget" not in describe(data, eve)


def test_a_budget_is_ones_own(served: Served) -> None:
    data = next(iter(served.server.datasets))
    ann, bob = served.server.accounts.get("ann"), served.server.accounts.get("bob")
    assert ann is not None
    assert bob is not None
    data.session(ann).sql("SELECT COUNT(*) AS n FROM visits").release(epsilon=0.5)
    assert budget(data, ann)["spent"]["epsilon"] == "0.5"
    assert budget(data, bob)["spent"]["epsilon"] == "0"
