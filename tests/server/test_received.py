"""Answers that are sent again from memory: to the same account alone, for the same request, while nothing has changed."""

from __future__ import annotations

import asyncio

import pytest
from fastapi.testclient import TestClient
from server.clinic import POLICY, Served, asked

from discreet.ledger.ledger import Ledger
from discreet.server.datasets import DataSet
from discreet.server.received import Received
from discreet.server.store.accounts import Account

D = "/api/v1/datasets/clinic"


def account(served: Served, name: str) -> Account:
    found = served.server.accounts.get(name)
    assert found is not None
    return found


def test_the_second_time_the_ledger_is_not_read(client: TestClient, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def send() -> tuple[bool, str]:
        said = client.post(f"{D}/releases", json=asked(), headers=served.header("ann"))
        assert said.status_code == 200, said.text
        return said.json()["repeated"], said.json()["release"]

    first = send()
    for method in ("find", "allowance", "has_received"):
        monkeypatch.setattr(Ledger, method, lambda *_: pytest.fail("the answer is remembered"))
    assert send() == (True, first[1])


def test_it_is_sent_to_the_same_account_for_the_same_request_alone(served: Served, data: DataSet) -> None:
    memory, ann, bob = Received(), account(served, "ann"), account(served, "bob")
    memory.keep(data, ann, asked(), "question", "release")
    assert memory.get(data, ann, asked()) == "release"
    assert memory.get(data, bob, asked()) is None
    assert memory.get(data, ann, asked(epsilon=0.2)) is None
    memory.forget()
    assert memory.get(data, ann, asked()) is None


def test_what_is_in_progress_is_not_sent_from_memory(served: Served, data: DataSet) -> None:
    memory, ann = Received(), account(served, "ann")
    memory.keep(data, ann, asked(), "question", "release")

    async def answering() -> str | None:
        async with data.in_progress(ann, ["question"]):
            return memory.get(data, ann, asked())

    assert asyncio.run(answering()) is None
    assert memory.get(data, ann, asked()) == "release"


def test_another_policy_is_another_question(client: TestClient, served: Served) -> None:
    header = served.header("ann")
    for _ in range(3):
        assert client.post(f"{D}/releases", json=asked(), headers=header).status_code == 200
    data = next(iter(served.server.datasets))
    data.path.write_text(POLICY.replace("rows = 4", "rows = 3"))
    assert client.post(f"{D}/reload", headers=served.header("owner")).status_code == 200
    assert client.post(f"{D}/releases", json=asked(), headers=header).json()["repeated"] is False


def test_a_grant_forgets_what_depends_on_it(client: TestClient, served: Served, data: DataSet) -> None:
    ann = account(served, "ann")
    served.server.asking.received.keep(data, ann, asked(), "question", "release")
    given = client.post(f"{D}/grants", json={"account": "ann", "epsilon": "3"}, headers=served.header("owner"))
    assert given.status_code == 200, given.text
    assert served.server.asking.received.get(data, ann, asked()) is None


def test_the_oldest_are_forgotten(served: Served, data: DataSet) -> None:
    memory, ann = Received(most=10), account(served, "ann")
    for epsilon in (0.1, 0.2, 0.3):
        memory.keep(data, ann, asked(epsilon=epsilon), "question", "12345")
    assert [memory.get(data, ann, asked(epsilon=one)) for one in (0.1, 0.2, 0.3)] == [None, "12345", "12345"]
    memory.keep(data, ann, asked(epsilon=0.2), "question", "1")  # the same again takes no more room
    memory.keep(data, ann, asked(epsilon=0.4), "question", "1234")
    assert memory.get(data, ann, asked(epsilon=0.3)) == "12345"


def test_columns_come_in_the_order_in_which_they_were_asked_for(client: TestClient, served: Served) -> None:
    outputs = {"z": "COUNT(*)", "a": "AVG(cost)"}
    for names in (["z", "a"], ["a", "z"], ["z", "a"]):
        said = {"request": [["table", ["visits"], {}], ["agg", [], {name: outputs[name] for name in names}]], "price": {"epsilon": 0.2}}
        found = client.post(f"{D}/releases", json=said, headers=served.header("ann")).json()["release"]
        assert [column["name"] for column in found["answers"]["columns"]] == names
